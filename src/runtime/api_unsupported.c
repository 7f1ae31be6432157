/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_unsupported: every public acl function that this library does not implement.
 *
 * A program that looks a function up must find it, and one that calls it must learn which function
 * it was: each answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT (or NULL) after one message that names it.
 * The headers are included and each line has the whole parameter list, so the compiler compares
 * them. To implement a function, take its line out of here.
 */
#include "acl/acl_rt.h"
#include "acl/acl_rt_memory_soma.h"
#include "runtime/runtime.h"

#pragma GCC diagnostic ignored "-Wunused-parameter" /* none of them looks at its arguments */

#define UNSUPPORTED(name, parameters)                                                              \
    aclError name parameters                                                                       \
    {                                                                                              \
        return rt_unsupported(#name);                                                              \
    }

#define UNSUPPORTED_POINTER(type, name, parameters)                                                \
    type name parameters                                                                           \
    {                                                                                              \
        (void)rt_unsupported(#name);                                                               \
        return NULL;                                                                               \
    }

/* ---- Captures ------------------------------------------------------------------------------- */

/*
 * Libraries ask these two before every operation, and our answer means "no capture" to them. It is
 * no fault, so it is not logged, and the thread's last error stays what it was.
 */
aclError
aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status, aclmdlRI *modelRI)
{
    if (stream == NULL || (status == NULL && modelRI == NULL))
        return rt_fail(ACL_ERROR_INVALID_PARAM, "cannot tell about a capture: %s is NULL",
                       stream == NULL ? "stream" : "status and model");
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

aclError
aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode)
{
    if (mode == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "cannot exchange the capture mode: mode is NULL");
    return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

/* One line each, however long: a search for the name finds the parameters too. */
/* clang-format off */

UNSUPPORTED(aclmdlRICaptureBegin, (aclrtStream stream, aclmdlRICaptureMode mode))
UNSUPPORTED(aclmdlRICaptureEnd, (aclrtStream stream, aclmdlRI *modelRI))
UNSUPPORTED(aclmdlRIExecuteAsync, (aclmdlRI modelRI, aclrtStream stream))
UNSUPPORTED(aclmdlRIDestroy, (aclmdlRI modelRI))
UNSUPPORTED(aclmdlRIExecute, (aclmdlRI modelRI, int32_t timeoutMs))

/* ---- acl_base_rt.h -------------------------------------------------------------------------- */

UNSUPPORTED(aclGetCannAttributeList, (const aclCannAttr **cannAttrList, size_t *num))
UNSUPPORTED(aclGetCannAttribute, (aclCannAttr cannAttr, int32_t *value))
UNSUPPORTED(aclGetDeviceCapability, (uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t *value))

/* ---- acl_rt.h ------------------------------------------------------------------------------- */

UNSUPPORTED(aclrtGetArgsFromExceptionInfo, (const aclrtExceptionInfo *info, void **devArgsPtr, uint32_t *devArgsLen))
UNSUPPORTED(aclrtGetFuncHandleFromExceptionInfo, (const aclrtExceptionInfo *info, aclrtFuncHandle *func))
UNSUPPORTED(aclrtBinarySetExceptionCallback, (aclrtBinHandle binHandle, aclrtOpExceptionCallback callback, void *userData))
UNSUPPORTED(aclrtCtxGetSysParamOpt, (aclSysParamOpt opt, int64_t *value))
UNSUPPORTED(aclrtCtxSetSysParamOpt, (aclSysParamOpt opt, int64_t value))
UNSUPPORTED(aclrtGetSysParamOpt, (aclSysParamOpt opt, int64_t *value))
UNSUPPORTED(aclrtSetSysParamOpt, (aclSysParamOpt opt, int64_t value))
UNSUPPORTED(aclrtSetTsDevice, (aclrtTsId tsId))
UNSUPPORTED(aclrtGetDeviceUtilizationRate, (int32_t deviceId, aclrtUtilizationInfo *utilizationInfo))
UNSUPPORTED(aclrtRecordEventWithFlag, (aclrtEvent event, aclrtStream stream, uint32_t flag))
UNSUPPORTED(aclrtQueryEvent, (aclrtEvent event, aclrtEventStatus *status))
UNSUPPORTED(aclrtMallocForTaskScheduler, (void **devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig *cfg))
UNSUPPORTED(aclrtMemManagedGetAttr, (aclrtMemManagedRangeAttribute attribute, const void *ptr, size_t size, void *data, size_t dataSize))
UNSUPPORTED(aclrtMemManagedGetAttrs, (aclrtMemManagedRangeAttribute *attributes, size_t numAttributes, const void *ptr, size_t size, void **data, size_t *dataSizes))
UNSUPPORTED(aclrtHostMemMapCapabilities, (uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability *capabilities))
UNSUPPORTED(aclrtGetThreadLastTaskId, (uint32_t *taskId))
UNSUPPORTED(aclrtMemAllocManaged, (void **ptr, uint64_t size, uint32_t flag))
UNSUPPORTED(aclrtMemsetD32, (void *ptr, size_t memSize, uint32_t value, size_t N))
UNSUPPORTED(aclrtMemsetD32Async, (void *ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream))
UNSUPPORTED(aclrtMemcpyAsyncWithCondition, (void *dst, size_t destMax, const void *src, size_t count, aclrtMemcpyKind kind, aclrtStream stream))
UNSUPPORTED(aclrtGetSymbolAddress, (const void *symbol, void **devPtr))
UNSUPPORTED(aclrtGetSymbolSize, (const void *symbol, size_t *size))
UNSUPPORTED(aclrtMemcpyFromSymbol, (void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind))
UNSUPPORTED(aclrtMemcpyFromSymbolAsync, (void *dst, size_t dstMax, const void *symbol, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream))
UNSUPPORTED(aclrtMemcpyToSymbol, (const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind))
UNSUPPORTED(aclrtMemcpyToSymbolAsync, (const void *symbol, const void *src, size_t count, size_t offset, aclrtMemcpyKind kind, aclrtStream stream))
UNSUPPORTED(aclrtMemManagedAdvise, (const void *const ptr, uint64_t size, aclrtMemManagedAdviseType advise, aclrtMemManagedLocation location))
UNSUPPORTED_POINTER(aclrtStreamConfigHandle *, aclrtCreateStreamConfigHandle, (void))
UNSUPPORTED(aclrtDestroyStreamConfigHandle, (aclrtStreamConfigHandle *handle))
UNSUPPORTED(aclrtSetStreamConfigOpt, (aclrtStreamConfigHandle *handle, aclrtStreamConfigAttr attr, const void *attrValue, size_t valueSize))
UNSUPPORTED(aclrtCreateStreamV2, (aclrtStream *stream, const aclrtStreamConfigHandle *handle))
UNSUPPORTED(aclrtStreamWaitEventWithFlag, (aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag))
UNSUPPORTED(aclrtSetGroup, (int32_t groupId))
UNSUPPORTED(aclrtGetGroupCount, (uint32_t *count))
UNSUPPORTED_POINTER(aclrtGroupInfo *, aclrtCreateGroupInfo, (void))
UNSUPPORTED(aclrtDestroyGroupInfo, (aclrtGroupInfo *groupInfo))
UNSUPPORTED(aclrtGetAllGroupInfo, (aclrtGroupInfo *groupInfo))
UNSUPPORTED(aclrtGetGroupInfoDetail, (const aclrtGroupInfo *groupInfo, int32_t groupIndex, aclrtGroupAttr attr, void *attrValue, size_t valueLen, size_t *paramRetSize))
UNSUPPORTED(aclrtGetMemUsageInfo, (int32_t deviceId, aclrtMemUsageInfo *memUsageInfo, size_t inputNum, size_t *outputNum))
UNSUPPORTED(aclrtSetStreamOverflowSwitch, (aclrtStream stream, uint32_t flag))
UNSUPPORTED(aclrtGetStreamOverflowSwitch, (aclrtStream stream, uint32_t *flag))
UNSUPPORTED(aclrtGetOverflowStatus, (void *outputAddr, size_t outputSize, aclrtStream stream))
UNSUPPORTED(aclrtResetOverflowStatus, (aclrtStream stream))
UNSUPPORTED(aclrtSubscribeHostFunc, (uint64_t hostFuncThreadId, aclrtStream exeStream))
UNSUPPORTED(aclrtProcessHostFunc, (int32_t timeout))
UNSUPPORTED(aclrtUnSubscribeHostFunc, (uint64_t hostFuncThreadId, aclrtStream exeStream))
UNSUPPORTED(aclrtGetMemUceInfo, (int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize, size_t *retSize))
UNSUPPORTED(aclrtDeviceTaskAbort, (int32_t deviceId, uint32_t timeout))
UNSUPPORTED(aclrtMemUceRepair, (int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize))
UNSUPPORTED(aclrtBinaryGetGlobal, (aclrtBinHandle binHandle, const char *name, void **dptr, size_t *size))
UNSUPPORTED(aclrtGetFuncBySymbol, (const void *symbol, aclrtFuncHandle *funcHandle))
UNSUPPORTED(aclrtGetFunctionSize, (aclrtFuncHandle funcHandle, size_t *aicSize, size_t *aivSize))
UNSUPPORTED(aclrtGetMemcpyDescSize, (aclrtMemcpyKind kind, size_t *descSize))
UNSUPPORTED(aclrtSetMemcpyDesc, (void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr, size_t count, void *config))
UNSUPPORTED(aclrtMemcpyAsyncWithOffset, (void **dst, size_t destMax, size_t dstDataOffset, const void **src, size_t count, size_t srcDataOffset, aclrtMemcpyKind kind, aclrtStream stream))
UNSUPPORTED(aclrtMemcpyAsyncWithDesc, (void *desc, aclrtMemcpyKind kind, aclrtStream stream))
UNSUPPORTED(aclmdlRITaskGetParams, (aclmdlRITask task, aclmdlRITaskParams *params))
UNSUPPORTED(aclmdlRITaskSetParams, (aclmdlRITask task, aclmdlRITaskParams *params))
UNSUPPORTED(aclmdlRIKernelTaskGetAttribute, (aclmdlRITask task, aclrtLaunchKernelAttrId attrId, aclrtLaunchKernelAttrValue *attrValue))
UNSUPPORTED(aclmdlRIUpdate, (aclmdlRI modelRI))
UNSUPPORTED(aclmdlRITaskDisable, (aclmdlRITask task))
UNSUPPORTED(aclrtCntNotifyCreate, (aclrtCntNotify *cntNotify, uint64_t flag))
UNSUPPORTED(aclrtCntNotifyDestroy, (aclrtCntNotify cntNotify))
UNSUPPORTED(aclrtGetDeviceCapability, (int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t *value))
UNSUPPORTED(aclrtDeviceGetUuid, (int32_t deviceId, aclrtUuid *uuid))
UNSUPPORTED(aclrtDeviceSetLimit, (aclrtDeviceLimit limit, size_t value))
UNSUPPORTED(aclrtDeviceGetLimit, (aclrtDeviceLimit limit, size_t *value))
UNSUPPORTED(aclrtDeviceGetPCIBusId, (int32_t deviceId, char *pciBusId, int32_t len))
UNSUPPORTED(aclrtDeviceGetByPCIBusId, (const char *pciBusId, int32_t *deviceId))
UNSUPPORTED(aclrtDeviceGetHostAtomicCapabilities, (uint32_t *capabilities, const aclrtAtomicOperation *operations, const uint32_t count, int32_t deviceId))
UNSUPPORTED(aclrtDeviceGetP2PAtomicCapabilities, (uint32_t *capabilities, const aclrtAtomicOperation *operations, const uint32_t count, int32_t srcDeviceId, int32_t dstDeviceId))
UNSUPPORTED(aclrtCreateLabel, (aclrtLabel *label))
UNSUPPORTED(aclrtSetLabel, (aclrtLabel label, aclrtStream stream))
UNSUPPORTED(aclrtDestroyLabel, (aclrtLabel label))
UNSUPPORTED(aclrtCreateLabelList, (aclrtLabel *labels, size_t num, aclrtLabelList *labelList))
UNSUPPORTED(aclrtDestroyLabelList, (aclrtLabelList labelList))
UNSUPPORTED(aclrtSwitchLabelByIndex, (void *ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream))
UNSUPPORTED(aclrtActiveStream, (aclrtStream activeStream, aclrtStream stream))
UNSUPPORTED(aclrtSwitchStream, (void *leftValue, aclrtCondition cond, void *rightValue, aclrtCompareDataType dataType, aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream))
UNSUPPORTED(aclrtGetBufFromChain, (aclrtMbuf headBuf, uint32_t index, aclrtMbuf *buf))
UNSUPPORTED(aclrtGetBufChainNum, (aclrtMbuf headBuf, uint32_t *num))
UNSUPPORTED(aclrtAppendBufChain, (aclrtMbuf headBuf, aclrtMbuf buf))
UNSUPPORTED(aclrtCopyBufRef, (const aclrtMbuf buf, aclrtMbuf *newBuf))
UNSUPPORTED(aclrtGetBufUserData, (const aclrtMbuf buf, void *dataPtr, size_t size, size_t offset))
UNSUPPORTED(aclrtSetBufUserData, (aclrtMbuf buf, const void *dataPtr, size_t size, size_t offset))
UNSUPPORTED(aclrtGetBufData, (const aclrtMbuf buf, void **dataPtr, size_t *size))
UNSUPPORTED(aclrtGetBufDataLen, (aclrtMbuf buf, size_t *len))
UNSUPPORTED(aclrtSetBufDataLen, (aclrtMbuf buf, size_t len))
UNSUPPORTED(aclrtFreeBuf, (aclrtMbuf buf))
UNSUPPORTED(aclrtAllocBuf, (aclrtMbuf *buf, size_t size))
UNSUPPORTED(aclrtCmoAsyncWithBarrier, (void *src, size_t size, aclrtCmoType cmoType, uint32_t barrierId, aclrtStream stream))
UNSUPPORTED(aclrtCmoWaitBarrier, (aclrtBarrierTaskInfo *taskInfo, aclrtStream stream, uint32_t flag))
UNSUPPORTED(aclmdlRIDebugPrint, (aclmdlRI modelRI))
UNSUPPORTED(aclmdlRIDebugJsonPrint, (aclmdlRI modelRI, const char *path, uint32_t flags))
UNSUPPORTED(aclmdlRICaptureTaskGrpBegin, (aclrtStream stream))
UNSUPPORTED(aclmdlRICaptureTaskGrpEnd, (aclrtStream stream, aclrtTaskGrp *handle))
UNSUPPORTED(aclmdlRICaptureTaskUpdateBegin, (aclrtStream stream, aclrtTaskGrp handle))
UNSUPPORTED(aclmdlRICaptureTaskUpdateEnd, (aclrtStream stream))
UNSUPPORTED(aclmdlRIBuildBegin, (aclmdlRI *modelRI, uint32_t flag))
UNSUPPORTED(aclmdlRIBindStream, (aclmdlRI modelRI, aclrtStream stream, uint32_t flag))
UNSUPPORTED(aclmdlRIEndTask, (aclmdlRI modelRI, aclrtStream stream))
UNSUPPORTED(aclmdlRIBuildEnd, (aclmdlRI modelRI, void *reserve))
UNSUPPORTED(aclmdlRIUnbindStream, (aclmdlRI modelRI, aclrtStream stream))
UNSUPPORTED(aclmdlRISetName, (aclmdlRI modelRI, const char *name))
UNSUPPORTED(aclmdlRIGetName, (aclmdlRI modelRI, uint32_t maxLen, char *name))
UNSUPPORTED(aclmdlRIGetId, (aclmdlRI modelRI, uint32_t *modelRIId))
UNSUPPORTED(aclmdlRIDestroyRegisterCallback, (aclmdlRI modelRI, aclrtCallback func, void *userData))
UNSUPPORTED(aclmdlRIDestroyUnregisterCallback, (aclmdlRI modelRI, aclrtCallback func))
UNSUPPORTED(aclmdlInitDump, (void))
UNSUPPORTED(aclmdlSetDump, (const char *dumpCfgPath))
UNSUPPORTED(aclmdlFinalizeDump, (void))
UNSUPPORTED(aclmdlRIGetStreams, (aclmdlRI modelRI, aclrtStream *streams, uint32_t *numStreams))
UNSUPPORTED(aclmdlRIGetTasksByStream, (aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks))
UNSUPPORTED(aclmdlRITaskGetType, (aclmdlRITask task, aclmdlRITaskType *type))
UNSUPPORTED(aclmdlRITaskGetSeqId, (aclmdlRITask task, uint32_t *id))
UNSUPPORTED(aclInitCallbackRegister, (aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void *userData))
UNSUPPORTED(aclInitCallbackUnRegister, (aclRegisterCallbackType type, aclInitCallbackFunc cbFunc))
UNSUPPORTED(aclFinalizeCallbackRegister, (aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void *userData))
UNSUPPORTED(aclFinalizeCallbackUnRegister, (aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc))
UNSUPPORTED(aclrtCheckMemType, (void **addrList, uint32_t size, uint32_t memType, uint32_t *checkResult, uint32_t reserve))
UNSUPPORTED(aclrtProfTrace, (void *userdata, int32_t length, aclrtStream stream))
UNSUPPORTED(aclrtLaunchSIMTKernelWithArgsArray, (void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args))
UNSUPPORTED(aclrtLaunchSIMTKernelWithHostArgs, (void *func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream, aclrtLaunchKernelCfg *cfg, void *hostArgs, size_t argsSize, aclrtPlaceHolderInfo *placeHolderArray, size_t placeHolderNum))
UNSUPPORTED(aclrtCtxGetFloatOverflowAddr, (void **overflowAddr))
UNSUPPORTED(aclrtGetFloatOverflowStatus, (void *outputAddr, uint64_t outputSize, aclrtStream stream))
UNSUPPORTED(aclrtResetFloatOverflowStatus, (aclrtStream stream))
UNSUPPORTED(aclrtNpuGetFloatOverFlowStatus, (void *outputAddr, uint64_t outputSize, uint32_t checkMode, aclrtStream stream))
UNSUPPORTED(aclrtNpuClearFloatOverFlowStatus, (uint32_t checkMode, aclrtStream stream))
UNSUPPORTED(aclrtGetHardwareSyncAddr, (void **addr))
UNSUPPORTED(aclrtRandomNumAsync, (const aclrtRandomNumTaskInfo *taskInfo, const aclrtStream stream, void *reserve))
UNSUPPORTED(aclrtRegStreamStateCallback, (const char *regName, aclrtStreamStateCallback callback, void *args))
UNSUPPORTED(aclrtRegDeviceStateCallback, (const char *regName, aclrtDeviceStateCallback callback, void *args))
UNSUPPORTED(aclrtSetDeviceTaskAbortCallback, (const char *regName, aclrtDeviceTaskAbortCallback callback, void *args))
UNSUPPORTED(aclrtTaskUpdateAsync, (aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo *info, aclrtStream execStream))
UNSUPPORTED(aclrtCmoGetDescSize, (size_t *size))
UNSUPPORTED(aclrtCmoSetDesc, (void *cmoDesc, void *src, size_t size))
UNSUPPORTED(aclrtCmoAsyncWithDesc, (void *cmoDesc, aclrtCmoType cmoType, aclrtStream stream, const void *reserve))
UNSUPPORTED(aclrtCheckArchCompatibility, (const char *socVersion, int32_t *canCompatible))
UNSUPPORTED(aclmdlRIAbort, (aclmdlRI modelRI))
UNSUPPORTED(aclmdlRICondHandleCreate, (aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag, aclmdlRICondHandle *handle))
UNSUPPORTED(aclmdlRICondHandleGetCondPtr, (aclmdlRICondHandle handle, uint64_t **ptr))
UNSUPPORTED(aclmdlRIAddCondTask, (aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags))
UNSUPPORTED(aclmdlRICaptureToModelRIBegin, (aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode))
UNSUPPORTED(aclrtCntNotifyRecord, (aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo *info))
UNSUPPORTED(aclrtCntNotifyWaitWithTimeout, (aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo *info))
UNSUPPORTED(aclrtCntNotifyReset, (aclrtCntNotify cntNotify, aclrtStream stream))
UNSUPPORTED(aclrtCntNotifyGetId, (aclrtCntNotify cntNotify, uint32_t *notifyId))
UNSUPPORTED(aclrtPersistentTaskClean, (aclrtStream stream))
UNSUPPORTED(aclrtGetErrorVerbose, (int32_t deviceId, aclrtErrorInfo *errorInfo))
UNSUPPORTED(aclrtRepairError, (int32_t deviceId, const aclrtErrorInfo *errorInfo))
UNSUPPORTED(aclrtSnapShotProcessLock, (int pid, void *reserve))
UNSUPPORTED(aclrtSnapShotProcessUnlock, (int pid, void *reserve))
UNSUPPORTED(aclrtSnapShotProcessBackup, (int pid, aclrtSnapShotBackupArgs *args))
UNSUPPORTED(aclrtSnapShotProcessRestore, (int pid, aclrtSnapShotRestoreArgs *args))
UNSUPPORTED(aclrtSnapShotCallbackRegister, (aclrtSnapShotStage stage, aclrtSnapShotCallBack callback, void *args))
UNSUPPORTED(aclrtSnapShotCallbackUnregister, (aclrtSnapShotStage stage, aclrtSnapShotCallBack callback))
UNSUPPORTED(aclrtCacheLastTaskOpInfo, (const void *const infoPtr, const size_t infoSize))
UNSUPPORTED(aclrtCacheLastTaskExtendInfo, (const char *const extendInfoPtr, const size_t infoSize))
UNSUPPORTED(aclrtFunctionGetParamCount, (const void *func, size_t *paramCount))
UNSUPPORTED(aclrtFunctionGetParamInfo, (const void *func, size_t paramIndex, size_t *paramOffset, size_t *paramSize))
UNSUPPORTED(aclrtFunctionGetAvailDynUbufPerBlock, (void *func, uint32_t flags, size_t *dynamicUbufSize))
UNSUPPORTED(aclrtIpcGetEventHandle, (aclrtEvent event, aclrtIpcEventHandle *handle))
UNSUPPORTED(aclrtIpcOpenEventHandle, (aclrtIpcEventHandle handle, aclrtEvent *event))
UNSUPPORTED(aclrtMemP2PMap, (void *devPtr, size_t size, int32_t dstDevId, uint64_t flags))
UNSUPPORTED(aclrtMemManagedPrefetchAsync, (const void *ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags, aclrtStream stream))
UNSUPPORTED(aclrtMemManagedPrefetchBatchAsync, (const void **ptrs, size_t *sizes, size_t count, aclrtMemManagedLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags, aclrtStream stream))
UNSUPPORTED(aclrtDeviceL2CacheFlush, (void *rsv))
UNSUPPORTED(aclrtMemMapSetLink, (aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink))

/* ---- acl_rt_allocator.h --------------------------------------------------------------------- */

UNSUPPORTED_POINTER(aclrtAllocatorDesc, aclrtAllocatorCreateDesc, (void))
UNSUPPORTED(aclrtAllocatorDestroyDesc, (aclrtAllocatorDesc allocatorDesc))
UNSUPPORTED(aclrtAllocatorSetObjToDesc, (aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator))
UNSUPPORTED(aclrtAllocatorSetAllocFuncToDesc, (aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func))
UNSUPPORTED(aclrtAllocatorSetFreeFuncToDesc, (aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func))
UNSUPPORTED(aclrtAllocatorSetAllocAdviseFuncToDesc, (aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func))
UNSUPPORTED(aclrtAllocatorSetGetAddrFromBlockFuncToDesc, (aclrtAllocatorDesc allocatorDesc, aclrtAllocatorGetAddrFromBlockFunc func))
UNSUPPORTED(aclrtAllocatorRegister, (aclrtStream stream, aclrtAllocatorDesc allocatorDesc))
UNSUPPORTED(aclrtAllocatorGetByStream, (aclrtStream stream, aclrtAllocatorDesc *allocatorDesc, aclrtAllocator *allocator, aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc, aclrtAllocatorAllocAdviseFunc *allocAdviseFunc, aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc))
UNSUPPORTED(aclrtAllocatorUnregister, (aclrtStream stream))

/* ---- acl_rt_memory_soma.h ------------------------------------------------------------------- */

UNSUPPORTED(aclrtMemPoolCreate, (aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps))
UNSUPPORTED(aclrtMemPoolDestroy, (const aclrtMemPool memPool))
UNSUPPORTED(aclrtMemPoolSetAttr, (aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value))
UNSUPPORTED(aclrtMemPoolGetAttr, (aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value))
UNSUPPORTED(aclrtMemPoolMallocAsync, (void **ptr, size_t size, aclrtMemPool memPool, aclrtStream stream))
UNSUPPORTED(aclrtMemPoolFreeAsync, (void *ptr, aclrtStream stream))
UNSUPPORTED(aclrtMemPoolTrimTo, (aclrtMemPool memPool, size_t minBytesToKeep))

/* clang-format on */
