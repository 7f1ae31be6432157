/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi_hcomm_test: what compiled programs rely on, pinned: sizes, offsets, alignments, values.
 *
 * That it compiles, as C11 and as C++14, is the test. Only C++ has something to run: the members of
 * HcclDfxOpInfo that have initial values.
 */
#include <stddef.h>

#include "hccl/hccl.h"
#include "hccl/hccl_diag.h"
#include "hccl/hccl_inner.h"
#include "hccl/hccl_one_sided_services.h"
#include "hccl/hccl_rank_graph.h"
#include "hccl/hccl_res_expt.h"
#include "hccl/hccl_sym_win.h"
#include "hccl/hccl_team.h"
#include "hccl/hcomm_diag.h"
#include "hcomm/hcomm_exception.h"
#include "hcomm/hcomm_extra.h"
#include "hcomm/hcomm_primitives.h"
#include "hcomm/hcomm_primitives_expt.h"
#include "hcomm/hcomm_res.h"
#include "hcomm/hcomm_res_entity_defs.h"
#include "hcomm/hcomm_team_entity_defs.h"

#ifdef __cplusplus
#define PIN(what_) static_assert(what_, #what_)
#define ALIGN(type_) alignof(type_)
#else
#define PIN(what_) _Static_assert(what_, #what_)
#define ALIGN(type_) _Alignof(type_)
#endif

#define SIZE(type_, size_) PIN(sizeof(type_) == (size_))
#define VALUE(name_, value_) PIN((name_) == (value_))
#define AT(type_, member_, offset_) PIN(offsetof(type_, member_) == (offset_))

/* Sizes. */
SIZE(CommAbiHeader, 16);
SIZE(ThreadConfig, 32);
SIZE(CommAddr, 40);
SIZE(EndpointLoc, 64);
SIZE(EndpointDesc, 160);
SIZE(CommMem, 24);
SIZE(HcommChannelDesc, 360);
SIZE(HcclChannelDesc, 496);
SIZE(CommLink, 464);
SIZE(HcommBatchTransferDesc, 64);
SIZE(HcclOpP2pDesc, 48);
SIZE(HcclOpDesc, 360);
SIZE(HcclKernelFuncInfo, 528);
SIZE(HcclKernelLaunchCfg, 128);
SIZE(HcclP2pKernelParam, 8200);
SIZE(HcclRootInfo, 4108);
SIZE(HcclCommConfig, 2248);
SIZE(HcclSendRecvItem, 32);
SIZE(HcclMemDesc, 512);
SIZE(HcclMemDescs, 16);
SIZE(HcclOneSideOpDesc, 32);
SIZE(HcclPrepareConfig, 32);
SIZE(HcommTeamSyncMemRequirement, 32);
SIZE(HcclTeamCreateDesc, 88);
SIZE(HcclTeamCreateChannelsDesc, 48);
SIZE(ProtectionInfo, 28);
SIZE(RegedBufferEntity, 64);
SIZE(RegedNotifyEntity, 64);
SIZE(SqContext, 128);
SIZE(CqContext, 128);
SIZE(ChannelEntity, 256);
SIZE(HcommExceptionInfo, 216);
SIZE(HcommWindow, 72);
SIZE(HcommTeamSyncMem, 104);
SIZE(HcommTeam, 200);
SIZE(StarsExDetailInfo, 128);
SIZE(HcommExceptionExpandInfo, 132);
SIZE(HcclConfigValue, 4);
SIZE(HcclResult, 4);
SIZE(CommEngine, 4);
SIZE(CommProtocol, 4);
SIZE(HcclDataType, 4);
SIZE(HcommTransferType, 4);
SIZE(HcclCMDType, 4);
SIZE(ThreadType, 4);
SIZE(struct HcclDfxOpInfo, 504);
SIZE(bool, 1);

/* Alignments. */
PIN(ALIGN(CommAbiHeader) == 4);
PIN(ALIGN(ThreadConfig) == 4);
PIN(ALIGN(CommAddr) == 4);
PIN(ALIGN(EndpointLoc) == 4);
PIN(ALIGN(EndpointDesc) == 4);
PIN(ALIGN(CommMem) == 8);
PIN(ALIGN(HcommChannelDesc) == 8);
PIN(ALIGN(HcommBatchTransferDesc) == 8);
PIN(ALIGN(HcclTeamCreateDesc) == 8);
PIN(ALIGN(HcclTeamCreateChannelsDesc) == 4);
PIN(ALIGN(HcclRootInfo) == 1);
PIN(ALIGN(HcclCommConfig) == 8);
PIN(ALIGN(HcclSendRecvItem) == 8);
PIN(ALIGN(HcclChannelDesc) == 8);
PIN(ALIGN(CommLink) == 4);
PIN(ALIGN(HcclOpDesc) == 8);
PIN(ALIGN(HcclMemDesc) == 1);

AT(CommAbiHeader, version, 0);
AT(CommAbiHeader, magicWord, 4);
AT(CommAbiHeader, size, 8);
AT(CommAbiHeader, reserved, 12);

AT(ThreadConfig, header, 0);
AT(ThreadConfig, notifyNumPerThread, 16);
AT(ThreadConfig, reserved, 18);

AT(CommAddr, type, 0);
AT(CommAddr, raws, 4);
AT(CommAddr, addr, 4);
AT(CommAddr, addr6, 4);
AT(CommAddr, id, 4);
AT(CommAddr, eid, 4);

AT(EndpointLoc, locType, 0);
AT(EndpointLoc, raws, 4);
AT(EndpointLoc, device, 4);
AT(EndpointLoc, host, 4);

AT(EndpointDesc, protocol, 0);
AT(EndpointDesc, commAddr, 4);
AT(EndpointDesc, loc, 44);
AT(EndpointDesc, raws, 108);

AT(CommMem, type, 0);
AT(CommMem, addr, 8);
AT(CommMem, size, 16);

AT(HcommChannelDesc, header, 0);
AT(HcommChannelDesc, remoteEndpoint, 16);
AT(HcommChannelDesc, notifyNum, 176);
AT(HcommChannelDesc, exchangeAllMems, 180);
AT(HcommChannelDesc, memHandles, 184);
AT(HcommChannelDesc, memHandleNum, 192);
AT(HcommChannelDesc, socket, 200);
AT(HcommChannelDesc, role, 208);
AT(HcommChannelDesc, port, 212);
AT(HcommChannelDesc, raws, 216);
AT(HcommChannelDesc, qos, 344);
AT(HcommChannelDesc, channelName, 352);
AT(HcommChannelDesc, roceAttr.queueNum, 216);
AT(HcommChannelDesc, roceAttr.retryCnt, 220);
AT(HcommChannelDesc, roceAttr.retryInterval, 224);
AT(HcommChannelDesc, roceAttr.tc, 228);
AT(HcommChannelDesc, roceAttr.sl, 229);
AT(HcommChannelDesc, roceAttr.qpThreshold, 232);
AT(HcommChannelDesc, roceAttr.cqAttrFlags, 236);
AT(HcommChannelDesc, roceAttr.srcPortList, 240);
AT(HcommChannelDesc, hccsAttr.qos, 216);
AT(HcommChannelDesc, ubAttr.sqDepth, 216);
AT(HcommChannelDesc, ubMemAttr.pathMode, 216);

AT(HcommBatchTransferDesc, transType, 0);
AT(HcommBatchTransferDesc, reserved, 4);
AT(HcommBatchTransferDesc, transferInfo, 8);
AT(HcommBatchTransferDesc, transferInfo.write.len, 8);
AT(HcommBatchTransferDesc, transferInfo.write.dst, 16);
AT(HcommBatchTransferDesc, transferInfo.write.src, 24);
AT(HcommBatchTransferDesc, transferInfo.read.src, 24);
AT(HcommBatchTransferDesc, transferInfo.reduce.count, 8);
AT(HcommBatchTransferDesc, transferInfo.reduce.reduceOp, 32);
AT(HcommBatchTransferDesc, transferInfo.reduce.dataType, 36);
AT(HcommBatchTransferDesc, transferInfo.notifyRecord.notifyIdx, 8);
AT(HcommBatchTransferDesc, transferInfo.writeWithNotify.notifyIdx, 32);
AT(HcommBatchTransferDesc, transferInfo.writeReduceWithNotify.reduceOp, 32);
AT(HcommBatchTransferDesc, transferInfo.writeReduceWithNotify.dataType, 36);
AT(HcommBatchTransferDesc, transferInfo.writeReduceWithNotify.notifyIdx, 40);

AT(HcommTeamSyncMemRequirement, signalCount, 0);
AT(HcommTeamSyncMemRequirement, counterCount, 4);
AT(HcommTeamSyncMemRequirement, barrierCount, 8);
AT(HcommTeamSyncMemRequirement, reserved, 12);

AT(HcclTeamCreateDesc, header, 0);
AT(HcclTeamCreateDesc, rankIds, 16);
AT(HcclTeamCreateDesc, rankNum, 24);
AT(HcclTeamCreateDesc, selfRankId, 28);
AT(HcclTeamCreateDesc, netLayer, 32);
AT(HcclTeamCreateDesc, protocol, 36);
AT(HcclTeamCreateDesc, requirement, 40);
AT(HcclTeamCreateDesc, reserved, 72);

AT(HcclTeamCreateChannelsDesc, header, 0);
AT(HcclTeamCreateChannelsDesc, engine, 16);
AT(HcclTeamCreateChannelsDesc, notifyNum, 20);
AT(HcclTeamCreateChannelsDesc, protocol, 24);
AT(HcclTeamCreateChannelsDesc, channelCnt, 28);
AT(HcclTeamCreateChannelsDesc, reserved, 32);

AT(HcclCommConfig, reserved, 0);
AT(HcclCommConfig, hcclBufferSize, 24);
AT(HcclCommConfig, hcclDeterministic, 28);
AT(HcclCommConfig, hcclCommName, 32);
AT(HcclCommConfig, hcclUdi, 160);
AT(HcclCommConfig, hcclOpExpansionMode, 288);
AT(HcclCommConfig, hcclRdmaTrafficClass, 292);
AT(HcclCommConfig, hcclRdmaServiceLevel, 296);
AT(HcclCommConfig, hcclWorldRankID, 300);
AT(HcclCommConfig, hcclJobID, 304);
AT(HcclCommConfig, aclGraphZeroCopyEnable, 312);
AT(HcclCommConfig, hcclExecTimeOut, 316);
AT(HcclCommConfig, hcclAlgo, 320);
AT(HcclCommConfig, hcclRetryEnable, 1920);
AT(HcclCommConfig, hcclRetryParams, 1970);
AT(HcclCommConfig, hcclBufferName, 2098);
AT(HcclCommConfig, hcclQos, 2228);
AT(HcclCommConfig, hcclSymWinMaxMemSizePerRank, 2232);
AT(HcclCommConfig, hcclChannelSqDepth, 2240);

AT(HcclSendRecvItem, sendRecvType, 0);
AT(HcclSendRecvItem, buf, 8);
AT(HcclSendRecvItem, count, 16);
AT(HcclSendRecvItem, dataType, 24);
AT(HcclSendRecvItem, remoteRank, 28);

AT(HcclChannelDesc, header, 0);
AT(HcclChannelDesc, remoteRank, 16);
AT(HcclChannelDesc, channelProtocol, 20);
AT(HcclChannelDesc, localEndpoint, 24);
AT(HcclChannelDesc, remoteEndpoint, 184);
AT(HcclChannelDesc, notifyNum, 344);
AT(HcclChannelDesc, memHandles, 352);
AT(HcclChannelDesc, memHandleNum, 360);
AT(HcclChannelDesc, raws, 364);
AT(HcclChannelDesc, roceAttr.queueNum, 364);
AT(HcclChannelDesc, roceAttr.retryCnt, 368);
AT(HcclChannelDesc, roceAttr.retryInterval, 372);
AT(HcclChannelDesc, roceAttr.tc, 376);
AT(HcclChannelDesc, roceAttr.sl, 377);
AT(HcclChannelDesc, ubMemAttr.pathMode, 364);

AT(CommLink, header, 0);
AT(CommLink, srcEndpointDesc, 16);
AT(CommLink, dstEndpointDesc, 176);
AT(CommLink, linkAttr, 336);
AT(CommLink, linkAttr.linkProtocol, 336);
AT(CommLink, linkAttr.hop, 340);

AT(HcclP2pKernelParam, sendRecvThread, 0);
AT(HcclP2pKernelParam, opParams, 8);

AT(HcclOpP2pDesc, buffer, 0);
AT(HcclOpP2pDesc, reserved, 8);
AT(HcclOpP2pDesc, cmdType, 16);
AT(HcclOpP2pDesc, dataType, 20);
AT(HcclOpP2pDesc, count, 24);
AT(HcclOpP2pDesc, remoteRank, 32);
AT(HcclOpP2pDesc, unfoldStream, 40);

AT(HcclOpDesc, header, 0);
AT(HcclOpDesc, opDescType, 16);
AT(HcclOpDesc, opName, 20);
AT(HcclOpDesc, raws, 280);
AT(HcclOpDesc, p2p, 280);

AT(HcclKernelFuncInfo, kernelSoName, 0);
AT(HcclKernelFuncInfo, kernelFuncName, 256);
AT(HcclKernelFuncInfo, args, 512);
AT(HcclKernelFuncInfo, argSize, 520);

AT(HcclKernelLaunchCfg, header, 0);
AT(HcclKernelLaunchCfg, timeOut, 16);
AT(HcclKernelLaunchCfg, reserved, 24);

AT(HcclMemDescs, array, 0);
AT(HcclMemDescs, arrayLength, 8);

AT(HcclOneSideOpDesc, localAddr, 0);
AT(HcclOneSideOpDesc, remoteAddr, 8);
AT(HcclOneSideOpDesc, count, 16);
AT(HcclOneSideOpDesc, dataType, 24);

AT(HcclPrepareConfig, topoType, 0);
AT(HcclPrepareConfig, rsvd0, 8);
AT(HcclPrepareConfig, rsvd1, 16);
AT(HcclPrepareConfig, rsvd2, 24);

AT(ChannelEntity, abiHeader, 0);
AT(ChannelEntity, engine, 16);
AT(ChannelEntity, protocol, 20);
AT(ChannelEntity, localNotifyNum, 24);
AT(ChannelEntity, remoteNotifyNum, 28);
AT(ChannelEntity, localBufferNum, 32);
AT(ChannelEntity, remoteBufferNum, 36);
AT(ChannelEntity, sqNum, 40);
AT(ChannelEntity, cqNum, 44);
AT(ChannelEntity, localNotifyAddr, 48);
AT(ChannelEntity, remoteNotifyAddr, 56);
AT(ChannelEntity, localBufferAddr, 64);
AT(ChannelEntity, remoteBufferAddr, 72);
AT(ChannelEntity, sqContextAddr, 80);
AT(ChannelEntity, cqContextAddr, 88);
AT(ChannelEntity, reserve, 96);

AT(ProtectionInfo, type, 0);
AT(ProtectionInfo, memInfo, 4);

AT(RegedBufferEntity, type, 0);
AT(RegedBufferEntity, bufferInfo, 8);

AT(RegedNotifyEntity, type, 0);
AT(RegedNotifyEntity, notifyInfo, 8);

AT(SqContext, type, 0);
AT(SqContext, contextInfo, 8);

AT(CqContext, type, 0);
AT(CqContext, contextInfo, 8);

AT(HcommExceptionExpandInfo, type, 0);
AT(HcommExceptionExpandInfo, detail, 4);

AT(HcommExceptionInfo, header, 0);
AT(HcommExceptionInfo, thread, 16);
AT(HcommExceptionInfo, channel, 24);
AT(HcommExceptionInfo, taskId, 32);
AT(HcommExceptionInfo, retCode, 36);
AT(HcommExceptionInfo, rsvd, 40);
AT(HcommExceptionInfo, expandInfo, 80);

AT(HcommWindow, memsNum, 16);
AT(HcommWindow, mems, 24);
AT(HcommWindow, worldTeam, 32);
AT(HcommWindow, reserved, 40);

AT(HcommTeamSyncMem, remoteMems, 0);
AT(HcommTeamSyncMem, remoteMemsNum, 8);
AT(HcommTeamSyncMem, shadowMem, 16);
AT(HcommTeamSyncMem, syncMemReq, 40);
AT(HcommTeamSyncMem, syncMemSize, 72);
AT(HcommTeamSyncMem, reserved, 80);

AT(HcommTeam, engine, 16);
AT(HcommTeam, memberNum, 20);
AT(HcommTeam, selfMemberId, 24);
AT(HcommTeam, channelsBaseAddr, 32);
AT(HcommTeam, channelNumPerMember, 40);
AT(HcommTeam, netLayer, 48);
AT(HcommTeam, worldTeamIds, 56);
AT(HcommTeam, syncMem, 64);
AT(HcommTeam, reserved, 168);

AT(RegedBufferEntity, bufferInfo.rma.protectionInfo, 24);
AT(RegedNotifyEntity, notifyInfo.rmaRt.protectionInfo, 24);
AT(RegedNotifyEntity, notifyInfo.rmaMem.protectionInfo, 20);
AT(SqContext, contextInfo.ubJfs.remoteEID, 56);
AT(SqContext, contextInfo.roceSq.dbVendorSpecified, 64);
AT(CqContext, contextInfo.roceCq.dbVendorSpecified, 64);

AT(struct HcclDfxOpInfo, header, 0);
AT(struct HcclDfxOpInfo, beginTime, 16);
AT(struct HcclDfxOpInfo, endTime, 24);
AT(struct HcclDfxOpInfo, opMode, 32);
AT(struct HcclDfxOpInfo, opType, 36);
AT(struct HcclDfxOpInfo, reduceOp, 40);
AT(struct HcclDfxOpInfo, dataType, 44);
AT(struct HcclDfxOpInfo, outputType, 48);
AT(struct HcclDfxOpInfo, dataCount, 56);
AT(struct HcclDfxOpInfo, root, 64);
AT(struct HcclDfxOpInfo, algTag, 68);
AT(struct HcclDfxOpInfo, engine, 356);
AT(struct HcclDfxOpInfo, cpuTsThread, 360);
AT(struct HcclDfxOpInfo, cpuWaitAicpuNotifyIdx, 368);
AT(struct HcclDfxOpInfo, cpuWaitAicpuNotifyId, 372);
AT(struct HcclDfxOpInfo, inputMemAddr, 376);
AT(struct HcclDfxOpInfo, inputMemSize, 384);
AT(struct HcclDfxOpInfo, outputMemAddr, 392);
AT(struct HcclDfxOpInfo, outputMemSize, 400);
AT(struct HcclDfxOpInfo, reserve, 408);

/* Values of enumerators and constants. */
VALUE(HCCL_SUCCESS, 0);
VALUE(HCCL_E_PARA, 1);
VALUE(HCCL_E_PTR, 2);
VALUE(HCCL_E_MEMORY, 3);
VALUE(HCCL_E_INTERNAL, 4);
VALUE(HCCL_E_NOT_SUPPORT, 5);
VALUE(HCCL_E_NOT_FOUND, 6);
VALUE(HCCL_E_UNAVAIL, 7);
VALUE(HCCL_E_SYSCALL, 8);
VALUE(HCCL_E_TIMEOUT, 9);
VALUE(HCCL_E_OPEN_FILE_FAILURE, 10);
VALUE(HCCL_E_TCP_CONNECT, 11);
VALUE(HCCL_E_ROCE_CONNECT, 12);
VALUE(HCCL_E_TCP_TRANSFER, 13);
VALUE(HCCL_E_ROCE_TRANSFER, 14);
VALUE(HCCL_E_RUNTIME, 15);
VALUE(HCCL_E_DRV, 16);
VALUE(HCCL_E_PROFILING, 17);
VALUE(HCCL_E_CCE, 18);
VALUE(HCCL_E_NETWORK, 19);
VALUE(HCCL_E_AGAIN, 20);
VALUE(HCCL_E_REMOTE, 21);
VALUE(HCCL_E_SUSPENDING, 22);
VALUE(HCCL_E_OPRETRY_FAIL, 23);
VALUE(HCCL_E_OOM, 24);
VALUE(HCCL_E_IN_STATUS, 1041);
VALUE(HCCL_E_RESERVED, 1042);
VALUE(HCCL_REDUCE_SUM, 0);
VALUE(HCOMM_REDUCE_SUM, 0);
VALUE(HCCL_REDUCE_PROD, 1);
VALUE(HCOMM_REDUCE_PROD, 1);
VALUE(HCCL_REDUCE_MAX, 2);
VALUE(HCOMM_REDUCE_MAX, 2);
VALUE(HCCL_REDUCE_MIN, 3);
VALUE(HCOMM_REDUCE_MIN, 3);
VALUE(HCCL_REDUCE_RESERVED, 255);
VALUE(HCOMM_REDUCE_RESERVED, 255);
VALUE(HCCL_DATA_TYPE_INT8, 0);
VALUE(HCOMM_DATA_TYPE_INT8, 0);
VALUE(HCCL_DATA_TYPE_UINT32, 9);
VALUE(HCOMM_DATA_TYPE_UINT32, 9);
VALUE(HCCL_DATA_TYPE_INT16, 1);
VALUE(HCOMM_DATA_TYPE_INT16, 1);
VALUE(HCCL_DATA_TYPE_FP64, 10);
VALUE(HCOMM_DATA_TYPE_FP64, 10);
VALUE(HCCL_DATA_TYPE_INT32, 2);
VALUE(HCOMM_DATA_TYPE_INT32, 2);
VALUE(HCCL_DATA_TYPE_BFP16, 11);
VALUE(HCOMM_DATA_TYPE_BFP16, 11);
VALUE(HCCL_DATA_TYPE_FP16, 3);
VALUE(HCOMM_DATA_TYPE_FP16, 3);
VALUE(HCCL_DATA_TYPE_INT128, 12);
VALUE(HCOMM_DATA_TYPE_INT128, 12);
VALUE(HCCL_DATA_TYPE_FP32, 4);
VALUE(HCOMM_DATA_TYPE_FP32, 4);
VALUE(HCCL_DATA_TYPE_INT64, 5);
VALUE(HCOMM_DATA_TYPE_INT64, 5);
VALUE(HCCL_DATA_TYPE_HIF8, 14);
VALUE(HCOMM_DATA_TYPE_HIF8, 14);
VALUE(HCCL_DATA_TYPE_UINT64, 6);
VALUE(HCOMM_DATA_TYPE_UINT64, 6);
VALUE(HCCL_DATA_TYPE_FP8E4M3, 15);
VALUE(HCOMM_DATA_TYPE_FP8E4M3, 15);
VALUE(HCCL_DATA_TYPE_UINT8, 7);
VALUE(HCOMM_DATA_TYPE_UINT8, 7);
VALUE(HCCL_DATA_TYPE_FP8E5M2, 16);
VALUE(HCOMM_DATA_TYPE_FP8E5M2, 16);
VALUE(HCCL_DATA_TYPE_UINT16, 8);
VALUE(HCOMM_DATA_TYPE_UINT16, 8);
VALUE(HCCL_DATA_TYPE_FP8E8M0, 17);
VALUE(HCOMM_DATA_TYPE_FP8E8M0, 17);
VALUE(HCCL_DATA_TYPE_RESERVED, 255);
VALUE(HCOMM_DATA_TYPE_RESERVED, 255);
VALUE(HCOMM_TRANSFER_TYPE_INVALID, -1);
VALUE(HCOMM_TRANSFER_TYPE_WRITE, 0);
VALUE(HCOMM_TRANSFER_TYPE_WRITE_REDUCE, 1);
VALUE(HCOMM_TRANSFER_TYPE_WRITE_WITH_NOTIFY, 2);
VALUE(HCOMM_TRANSFER_TYPE_WRITE_REDUCE_WITH_NOTIFY, 3);
VALUE(HCOMM_TRANSFER_TYPE_READ, 4);
VALUE(HCOMM_TRANSFER_TYPE_READ_REDUCE, 5);
VALUE(HCOMM_TRANSFER_TYPE_NOTIFY_RECORD, 6);
VALUE(COMM_ENGINE_RESERVED, -1);
VALUE(COMM_ENGINE_CPU, 0);
VALUE(COMM_ENGINE_CPU_TS, 1);
VALUE(COMM_ENGINE_AICPU, 2);
VALUE(COMM_ENGINE_AICPU_TS, 3);
VALUE(COMM_ENGINE_AIV, 4);
VALUE(COMM_ENGINE_CCU, 5);
VALUE(COMM_PROTOCOL_RESERVED, -1);
VALUE(COMM_PROTOCOL_HCCS, 0);
VALUE(COMM_PROTOCOL_ROCE, 1);
VALUE(COMM_PROTOCOL_PCIE, 2);
VALUE(COMM_PROTOCOL_SIO, 3);
VALUE(COMM_PROTOCOL_UB_CTP, 4);
VALUE(COMM_PROTOCOL_UBC_TP, 5);
VALUE(COMM_PROTOCOL_UB_MEM, 6);
VALUE(COMM_PROTOCOL_UBOE, 7);
VALUE(COMM_PROTOCOL_HCCS_ONLY, 8);
VALUE(COMM_PROTOCOL_UB_RTP, 9);
VALUE(COMM_PROTOCOL_UBC_CTP, 4);
VALUE(COMM_PROTOCOL_UBG, 9);
VALUE(HCCL_DED_THREAD_TYPE_INVALID, -1);
VALUE(HCCL_DED_THREAD_TYPE_AICPU_LAUNCH, 0);
VALUE(HCCL_DED_THREAD_TYPE_AICPU_LAUNCH_GE, 1);
VALUE(HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_OPBASE, 2);
VALUE(HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_ACLGRAPH, 3);
VALUE(HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_GE, 4);
VALUE(HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_DEVICE, 5);
VALUE(THREAD_TYPE_INVALID, -1);
VALUE(THREAD_TYPE_TS, 0);
VALUE(THREAD_RES_TYPE_INVALID, -1);
VALUE(THREAD_RES_TYPE_STREAM, 0);
VALUE(COMM_ADDR_TYPE_RESERVED, -1);
VALUE(COMM_ADDR_TYPE_IP_V4, 0);
VALUE(COMM_ADDR_TYPE_IP_V6, 1);
VALUE(COMM_ADDR_TYPE_ID, 2);
VALUE(COMM_ADDR_TYPE_EID, 3);
VALUE(ENDPOINT_LOC_TYPE_RESERVED, -1);
VALUE(ENDPOINT_LOC_TYPE_DEVICE, 0);
VALUE(ENDPOINT_LOC_TYPE_HOST, 1);
VALUE(COMM_MEM_TYPE_INVALID, -1);
VALUE(COMM_MEM_TYPE_DEVICE, 0);
VALUE(COMM_MEM_TYPE_HOST, 1);
VALUE(HCOMM_SOCKET_ROLE_RESERVED, -1);
VALUE(HCOMM_SOCKET_ROLE_CLIENT, 0);
VALUE(HCOMM_SOCKET_ROLE_SERVER, 1);
VALUE(HCOMM_ENDPOINT_FEATURE_INVALID, -1);
VALUE(HCOMM_ENDPOINT_FEATURE_NDA, 0);
VALUE(HCOMM_CHANNEL_CONFIG_TYPE_INVALID, -1);
VALUE(HCOMM_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE, 0);
VALUE(HCCL_CHANNEL_CONFIG_TYPE_INVALID, -1);
VALUE(HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE, 0);
VALUE(HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG, 1);
VALUE(ENDPOINT_ATTR_INVALID, -1);
VALUE(ENDPOINT_ATTR_BW_COEFF, 0);
VALUE(ENDPOINT_ATTR_DIE_ID, 1);
VALUE(ENDPOINT_ATTR_LOCATION, 2);
VALUE(COMM_TOPO_RESERVED, -1);
VALUE(COMM_TOPO_CLOS, 0);
VALUE(COMM_TOPO_1DMESH, 1);
VALUE(COMM_TOPO_910_93, 2);
VALUE(COMM_TOPO_310P, 3);
VALUE(COMM_TOPO_A2AXSERVER, 4);
VALUE(COMM_TOPO_CUSTOM, 5);
VALUE(HCCL_HETEROG_MODE_INVALID, -1);
VALUE(HCCL_HETEROG_MODE_HOMOGENEOUS, 0);
VALUE(HCCL_HETEROG_MODE_MIX_A2_A3, 1);
VALUE(HCCL_DETERMINISTIC, 0);
VALUE(HCCL_CONFIG_RESERVED, 1);
VALUE(HCCL_SEND, 0);
VALUE(HCCL_RECV, 1);
VALUE(HCCL_SEND_RECV_RESERVED, 2);
VALUE(HCCL_COMM_STATUS_READY, 0);
VALUE(HCCL_COMM_STATUS_SUSPENDING, 1);
VALUE(HCCL_COMM_STATUS_INVALID, 254);
VALUE(HCCL_COMM_STATUS_RESERVED, 255);
VALUE(HCCL_COMM_STATE_PHASE_INVALID, -1);
VALUE(HCCL_COMM_STATE_PHASE_DESTROY_PRE, 0);
VALUE(HCCL_COMM_STATE_PHASE_DESTROY_POST, 1);
VALUE(HCCL_COMM_STATE_PHASE_RESUME_PRE, 2);
VALUE(HCCL_COMM_STATE_PHASE_RESUME_POST, 3);
VALUE(HCCL_CONFIG_TYPE_INVALID, -1);
VALUE(HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, 0);
VALUE(HCCL_CONFIG_TYPE_HCCL_ALGO, 1);
VALUE(PROTECTION_TYPE_INVALID, -1);
VALUE(PROTECTION_TYPE_ROCE, 0);
VALUE(PROTECTION_TYPE_UB, 1);
VALUE(SQ_CONTEXT_TYPE_INVALID, -1);
VALUE(SQ_CONTEXT_TYPE_UB_JFS, 0);
VALUE(SQ_CONTEXT_TYPE_ROCE, 1);
VALUE(CQ_CONTEXT_TYPE_INVALID, -1);
VALUE(CQ_CONTEXT_TYPE_UB_JFC, 0);
VALUE(CQ_CONTEXT_TYPE_ROCE, 1);
VALUE(REGED_NOTIFY_INVALID, -1);
VALUE(REGED_NOTIFY_IPC_RT, 0);
VALUE(REGED_NOTIFY_IPC_MEM, 1);
VALUE(REGED_NOTIFY_RMA_RT, 2);
VALUE(REGED_NOTIFY_RMA_MEM, 3);
VALUE(REGED_BUFFER_INVALID, -1);
VALUE(REGED_BUFFER_IPC, 0);
VALUE(REGED_BUFFER_RMA, 1);
VALUE(HCCL_COMM_CONFIG_BUFFER_SIZE, 0);
VALUE(HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE, 7);
VALUE(HCCL_COMM_CONFIG_DETERMINISTIC, 1);
VALUE(HCCL_COMM_CONFIG_EXEC_TIMEOUT, 8);
VALUE(HCCL_COMM_CONFIG_COMM_NAME, 2);
VALUE(HCCL_COMM_CONFIG_ALGO, 9);
VALUE(HCCL_COMM_CONFIG_OP_EXPANSION_MODE, 3);
VALUE(HCCL_COMM_CONFIG_RETRY, 10);
VALUE(HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV, 4);
VALUE(HCCL_COMM_CONFIG_BUFFER_NAME, 11);
VALUE(HCCL_COMM_CONFIG_WORLD_RANKID, 5);
VALUE(HCCL_COMM_CONFIG_RESERVED, 12);
VALUE(HCCL_COMM_CONFIG_JOBID, 6);
VALUE(HCCL_OP_EXPANSION_MODE_INVALID, -1);
VALUE(HCCL_OP_EXPANSION_MODE_AI_CPU, 0);
VALUE(HCCL_OP_EXPANSION_MODE_AIV, 1);
VALUE(HCCL_OP_EXPANSION_MODE_HOST, 2);
VALUE(HCCL_OP_EXPANSION_MODE_HOST_TS, 3);
VALUE(HCCL_OP_EXPANSION_MODE_CCU_MS, 4);
VALUE(HCCL_OP_EXPANSION_MODE_CCU_SCHED, 5);
VALUE(HCCL_OP_EXPANSION_AIV_ONLY, 6);
VALUE(HCCL_CMD_INVALID, 0);
VALUE(HCCL_CMD_SCATTER, 12);
VALUE(HCCL_CMD_BROADCAST, 1);
VALUE(HCCL_CMD_BATCH_SEND_RECV, 13);
VALUE(HCCL_CMD_ALLREDUCE, 2);
VALUE(HCCL_CMD_BATCH_PUT, 14);
VALUE(HCCL_CMD_REDUCE, 3);
VALUE(HCCL_CMD_BATCH_GET, 15);
VALUE(HCCL_CMD_SEND, 4);
VALUE(HCCL_CMD_ALLGATHER_V, 16);
VALUE(HCCL_CMD_RECEIVE, 5);
VALUE(HCCL_CMD_REDUCE_SCATTER_V, 17);
VALUE(HCCL_CMD_ALLGATHER, 6);
VALUE(HCCL_CMD_BATCH_WRITE, 18);
VALUE(HCCL_CMD_REDUCE_SCATTER, 7);
VALUE(HCCL_CMD_ALLTOALLV, 8);
VALUE(HCCL_CMD_HALF_ALLTOALLV, 20);
VALUE(HCCL_CMD_ALLTOALLVC, 9);
VALUE(HCCL_CMD_ALL, 21);
VALUE(HCCL_CMD_ALLTOALL, 10);
VALUE(HCCL_CMD_FINALIZE, 100);
VALUE(HCCL_CMD_GATHER, 11);
VALUE(HCCL_CMD_INTER_GROUP_SYNC, 101);
VALUE(HCCL_CMD_INIT, 102);
VALUE(HCCL_CMD_BARRIER, 103);
VALUE(HCCL_CMD_MAX, 104);
VALUE(HCCL_TOPO_FULLMESH, 0);
VALUE(HCCL_TOPO_NUM, 1);
VALUE(HCOMM_EXCEPTION_INVALID, -1);
VALUE(HCOMM_EXCEPTION_STARS, 0);
VALUE(HCOMM_EXCEPTION_ROCE, 1);
VALUE(HCOMM_EXCEPTION_URMA, 2);
VALUE(COMM_ADDR_EID_LEN, 16);
VALUE(HCOMM_THREAD_CONFIG_MAGIC_WORD, 0x0f0f0f2fu);
VALUE(HCOMM_THREAD_CONFIG_VERSION, 1);
VALUE(HCOMM_CHANNEL_MAGIC_WORD, 0x0fcf0f0fu);
VALUE(HCOMM_CHANNEL_VERSION_ONE, 1);
VALUE(HCOMM_CHANNEL_VERSION, 4);
VALUE(HCOMM_CHANNEL_NAME_MAX_LEN, 191);
VALUE(HCOMM_CHANNEL_DESC_RAW_MAX_LEN, 128);
VALUE(HCOMM_CHANNEL_DESC_ABI_V1_SIZE, 344);
VALUE(HCCL_CHANNEL_MAGIC_WORD, 0x0f0f0f0fu);
VALUE(HCCL_CHANNEL_VERSION, 1);
VALUE(HCCL_CHANNEL_DESC_RAW_MAX_LEN, 128);
VALUE(HCCL_CHANNEL_CONFIG_SHARED_QUEUE_TAG_MAX_LEN, 255);
VALUE(HCCL_RES_TAG_MAX_LEN, 255);
VALUE(COMM_LINK_MAGIC_WORD, 0x0f0e0f0fu);
VALUE(COMM_LINK_VERSION, 1);
VALUE(P2P_MAX_ARG_SIZE, 8192);
VALUE(HCCL_OP_DESC_OP_NAME_MAX_LEN, 256);
VALUE(HCCL_OPDESC_MAGIC_WORD, 0x0f0f0f0fu);
VALUE(HCCL_OPDESC_VERSION, 1);
VALUE(HCCL_KERNEL_SO_NAME_MAX_LEN, 256);
VALUE(HCCL_KERNEL_FUNC_NAME_MAX_LEN, 256);
VALUE(HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD, 0x0f0f0f0fu);
VALUE(HCCL_KERNEL_LAUNCH_CFG_VERSION, 1);
VALUE(HCCL_TEAM_CREATE_DESC_MAGIC_WORD, 0x0fcf0f14u);
VALUE(HCCL_TEAM_CREATE_DESC_VERSION, 1);
VALUE(HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD, 0x0fcf0f15u);
VALUE(HCCL_TEAM_CREATE_CHANNELS_DESC_VERSION, 1);
VALUE(HCCL_ROOT_INFO_BYTES, 4108);
VALUE(COMM_NAME_MAX_LENGTH, 128);
VALUE(BUFFER_NAME_MAX_LENGTH, 128);
VALUE(UDI_MAX_LENGTH, 128);
VALUE(HCCL_COMM_ALGO_MAX_LENGTH, 1600);
VALUE(HCCL_COMM_RETRY_ENABLE_MAX_LENGTH, 50);
VALUE(HCCL_COMM_RETRY_PARAMS_MAX_LENGTH, 128);
VALUE(HCCL_COMM_CONFIG_INFO_BYTES, 24);
VALUE(HCCL_COMM_CONFIG_MAGIC_WORD, 0xf0f0f0f0u);
VALUE(HCCL_COMM_CONFIG_VERSION, 11);
VALUE(HCCL_COMM_DEFAULT_BUFFSIZE, 200);
VALUE(HCCL_COMM_DEFAULT_DETERMINISTIC, 0);
VALUE(HCCL_COMM_DEFAULT_OP_EXPANSION_MODE, 0);
VALUE(HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET, 0xffffffffu);
VALUE(HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET, 0xffffffffu);
VALUE(HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET, 0xffffffffu);
VALUE(HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET, 0xffffffffu);
VALUE(HCCL_COMM_QOS_CONFIG_NOT_SET, 0xffffffffu);
VALUE(HCCL_COMM_SQ_DEPTH_CONFIG_NOT_SET, 0xffffffffu);
VALUE(HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET, -1);
VALUE(HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE, 16);
VALUE(HCCL_MEM_DESC_LENGTH, 511);
VALUE(HCOMM_ALG_TAG_LENGTH, 288);

/* The types in prototypes, not only their sizes. */
#ifndef __cplusplus
#define SAME(type_, other_) PIN(_Generic((type_)0, other_ : 1, default : 0))
SAME(u64, unsigned long long);
SAME(u32, unsigned int);
SAME(s64, long long);
SAME(HcommResult, int32_t);
SAME(ChannelHandle, uint64_t);
SAME(ThreadHandle, uint64_t);
SAME(HcommTeamHandle, uint64_t *);
SAME(HcommWindowHandle, uint64_t *);
SAME(ThreadResTypeStream, aclrtStream);
SAME(HcclComm, void *);
SAME(HcclMemHandle, void *);
SAME(EndpointHandle, void *);
SAME(rtStream_t, void *);
#endif

/* Constants are array bounds in both languages. */
typedef char bounds[HCCL_ROOT_INFO_BYTES + COMM_ADDR_EID_LEN + HCCL_RES_TAG_MAX_LEN +
                    HCOMM_CHANNEL_NAME_MAX_LEN + HCCL_MEM_DESC_LENGTH];
SIZE(bounds, 4108 + 16 + 255 + 191 + 511);

/* Programs give local objects the names of constants, so in C++ these are no macros. */
#ifdef __cplusplus
static uint32_t
locals(void)
{
    const uint32_t HCCL_COMM_CONFIG_MAGIC_WORD = 1;
    const uint32_t HCCL_COMM_DEFAULT_BUFFSIZE = 2;
    const uint32_t HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET = 3;
    const uint64_t HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE = 4;

    return HCCL_COMM_CONFIG_MAGIC_WORD + HCCL_COMM_DEFAULT_BUFFSIZE +
           HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET + (uint32_t)HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE;
}
#endif

int
main(void)
{
#ifdef __cplusplus
    HcclDfxOpInfo info;

    if (locals() != 10 || info.root != 0xFFFFFFFF || info.engine != COMM_ENGINE_RESERVED ||
        info.cpuWaitAicpuNotifyIdx != 0xFFFFFFFF || info.cpuWaitAicpuNotifyId != 0xFFFFFFFF ||
        info.outputMemSize != 0)
        return 1;
#endif
    return 0;
}
