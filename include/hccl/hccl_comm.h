/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hccl_comm: make, ask, suspend and end communicators; groups; symmetric windows.
 *
 * Every function is an ordinary strong symbol, whatever HCOMM_WEAK_SYMBOL is defined to be.
 * A device must be current (aclrtSetDevice) on the OS thread that makes a communicator. Ranks may
 * be processes, or OS threads of one process with a device each.
 *
 * Common results, not repeated below: HCCL_E_PTR for a NULL where one is not allowed, HCCL_E_PARA
 * for a handle that is not a communicator.
 *
 * Source: spec, communicator, sections 1 to 4; spec, control plane, section 13.
 */
#ifndef HCCL_COMM_H_
#define HCCL_COMM_H_

#include "acl/acl.h"
#include "hccl_types.h"
#include "hccl_res.h"
#include "hccl_launch.h"

#ifndef HCOMM_WEAK_SYMBOL
#define HCOMM_WEAK_SYMBOL
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* What HcclConfigGetInfo can tell. */
typedef enum {
    HCCL_CONFIG_TYPE_INVALID = -1,
    HCCL_CONFIG_TYPE_OP_EXPANSION_MODE = 0, /* a HcclConfigTypeOpExpansionMode */
    HCCL_CONFIG_TYPE_HCCL_ALGO = 1          /* a string of up to 1600 bytes */
} HcclConfigType;

/* Who runs operators. Not the numbers of HcclCommConfig.hcclOpExpansionMode. */
typedef enum {
    HCCL_OP_EXPANSION_MODE_INVALID = -1,
    HCCL_OP_EXPANSION_MODE_AI_CPU = 0,
    HCCL_OP_EXPANSION_MODE_AIV = 1,
    HCCL_OP_EXPANSION_MODE_HOST = 2,
    HCCL_OP_EXPANSION_MODE_HOST_TS = 3,
    HCCL_OP_EXPANSION_MODE_CCU_MS = 4,
    HCCL_OP_EXPANSION_MODE_CCU_SCHED = 5,
    HCCL_OP_EXPANSION_AIV_ONLY = 6
} HcclOpExpansionMode;

typedef HcclOpExpansionMode HcclConfigTypeOpExpansionMode;

/* Called before and after a communicator is destroyed or resumed. What it returns other than
 * HCCL_SUCCESS becomes the result of that call. */
typedef HcclResult (*HcclCommStateCallback)(HcclComm comm, HcclCommStatePhase state, void *args);

/* ---- Making a communicator ------------------------------------------------------------------ */

/**
 * Open the meeting point of a new communicator, on the rank that shall be its root. A listener runs
 * in the background until all ranks have come. One root info serves one communicator.
 *
 * @param rootInfo  out  give all 4108 bytes to the other ranks, by means of your own
 *
 * @return HCCL_SUCCESS; HCCL_E_NETWORK, HCCL_E_SYSCALL: no address or port to listen on; or a
 *         common result.
 * Threads: safe.
 * Source:  spec, communicator, section 1.1.
 */
HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo);

/**
 * Join a communicator. Returns when all `nRanks` ranks have called it.
 *
 * @param nRanks         ranks, equal everywhere, above 0
 * @param rootInfo  in   from HcclGetRootInfo of the root
 * @param rank           of the caller, below nRanks
 * @param comm      out  end with HcclCommDestroy
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: nRanks, rank or rootInfo; HCCL_E_TIMEOUT: some rank did not
 *         come within HCCL_CONNECT_TIMEOUT (and 20 s); or a common result.
 * Threads: safe for different devices; serial on one device.
 * Source:  spec, communicator, section 1.1.
 */
HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                HcclComm *comm);

/**
 * HcclCommInitRootInfo with settings.
 *
 * @param config  in  from HcclCommConfigInit; equal everywhere. The others: see there
 *
 * @return as HcclCommInitRootInfo; HCCL_E_PARA also for a setting, or a name that is taken.
 * Threads: safe for different devices; serial on one device.
 * Source:  spec, communicator, sections 1.1 and 2.
 */
HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo, uint32_t rank,
                                      const HcclCommConfig *config, HcclComm *comm);

/**
 * Make a communicator from a rank table. Peers are contacted when channels are made.
 *
 * @param clusterInfo  in   path of a JSON file, equal on all ranks; at most 4095 bytes
 * @param rank              a rank_id of the file
 * @param comm         out  end with HcclCommDestroy
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: the path is empty or too long, rank is not
 *         in the file, or another device than its own is current; HCCL_E_UNAVAIL: the device has
 *         a communicator named hccl_world_group; HCCL_E_INTERNAL: the file cannot be used, which
 *         the message tells with line and field; HCCL_E_MEMORY.
 * Threads: safe for different devices; serial on one device.
 * Source:  spec, communicator, section 1.2.
 */
HcclResult HcclCommInitClusterInfo(const char *clusterInfo, uint32_t rank, HcclComm *comm);

/**
 * HcclCommInitClusterInfo with settings.
 *
 * @param config  in  from HcclCommConfigInit. The others: see there
 *
 * @return As HcclCommInitClusterInfo; HCCL_E_PARA also for a setting, or when the name is taken.
 * Threads: safe for different devices; serial on one device.
 * Source:  spec, communicator, sections 1.2 and 2.
 */
HcclResult HcclCommInitClusterInfoConfig(const char *clusterInfo, uint32_t rank,
                                         HcclCommConfig *config, HcclComm *comm);

/**
 * Make a communicator of several devices in one process: comms[i] for devices[i], with rank i. If
 * one fails, those that were made are destroyed.
 *
 * @param ndev     in   ranks, above 0
 * @param devices  in   [ndev] different devices
 * @param comms    out  [ndev]; end each with HcclCommDestroy
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: ndev is 0, or a device is there twice or does not exist; or as
 *         HcclCommInitRootInfo.
 * Threads: serial on the devices named.
 * Source:  spec, communicator, section 1.3.
 */
HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms);

/**
 * Make a communicator of some ranks of another one, which must not be a part itself. A rank that is
 * no member calls with rankIds NULL and subCommId 0xFFFFFFFF, and gets nothing, with success.
 *
 * Returns at once: members meet when they first use it, one perhaps long after another. If they
 * were given different lists or settings, that use fails at both, with what each was given. Its
 * resources and its fate are its own: the parent may be destroyed first, or fail.
 *
 * @param comm           in   address of the parent's handle
 * @param rankNum             members, above 0
 * @param rankIds        in   [rankNum] ranks of the parent, ascending; rank i is rankIds[i]
 * @param subCommId           the same at all members, which meet by it; names it
 *                            "<parent>_sub_<subCommId>", unless the settings do
 * @param subCommRankId       of the caller, below rankNum
 * @param config         in   from HcclCommConfigInit; hcclCommName, if any, the same at all members
 * @param subComm        out  end with HcclCommDestroy
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: rankIds is not ascending or names no rank, a number is out of
 *         range, the name is too long or taken, a setting is wrong, only one of rankIds and
 *         subCommId says "no member", or another process is that rank of the same table;
 *         HCCL_E_NOT_SUPPORT: `comm` is a part itself; or a common result.
 * Threads: calls on one parent must be serial.
 * Source:  spec, communicator, section 1.4.
 */
HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum, uint32_t *rankIds,
                                   uint64_t subCommId, uint32_t subCommRankId,
                                   HcclCommConfig *config, HcclComm *subComm);

/**
 * Which items of HcclCommConfig this library knows: those whose HcclCommConfigCapability is less
 * than the result.
 *
 * @return 10.
 * Threads: safe.
 * Source:  spec, communicator, section 2.
 */
uint32_t HcclGetCommConfigCapability(void);

/**
 * Make settings ready: size, magic word and version in `reserved`, everything "not set". Padding
 * and the tails of the strings keep what they held.
 *
 * @param config  out  settings of the caller; NULL does nothing
 *
 * Threads: safe for different settings.
 * Source:  spec, types, section 7.
 */
static inline void
HcclCommConfigInit(HcclCommConfig *config)
{
    struct {
        size_t size;
        uint32_t magicWord;
        uint32_t version;
        uint64_t reserved;
    } info;

    if (config == NULL)
        return;
    info.size = sizeof(*config);
    info.magicWord = HCCL_COMM_CONFIG_MAGIC_WORD;
    info.version = HCCL_COMM_CONFIG_VERSION;
    info.reserved = 0;
    memcpy(config->reserved, &info, sizeof(info));

    config->hcclBufferSize = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
    config->hcclDeterministic = HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET;
    config->hcclCommName[0] = '\0';
    config->hcclUdi[0] = '\0';
    config->hcclOpExpansionMode = HCCL_COMM_DEFAULT_OP_EXPANSION_MODE;
    config->hcclRdmaTrafficClass = HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET;
    config->hcclRdmaServiceLevel = HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET;
    config->hcclWorldRankID = 0;
    config->hcclJobID = 0;
    config->aclGraphZeroCopyEnable = 0;
    config->hcclExecTimeOut = HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET;
    config->hcclAlgo[0] = '\0';
    config->hcclRetryEnable[0] = '\0';
    config->hcclRetryParams[0] = '\0';
    config->hcclBufferName[0] = '\0';
    config->hcclQos = HCCL_COMM_QOS_CONFIG_NOT_SET;
    config->hcclSymWinMaxMemSizePerRank = HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE;
    config->hcclChannelSqDepth = HCCL_COMM_SQ_DEPTH_CONFIG_NOT_SET;
}

/* ---- Asking --------------------------------------------------------------------------------- */

/**
 * How many ranks a communicator has.
 *
 * @param comm      in   communicator
 * @param rankSize  out  ranks
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize);

/**
 * Which rank the caller is.
 *
 * @param comm  in   communicator
 * @param rank  out  rank
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank);

/**
 * The name of a communicator, equal on all its ranks; kernels lock it by name.
 *
 * @param comm      in   communicator
 * @param commName  out  room for 128 bytes
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclGetCommName(HcclComm comm, char *commName);

/**
 * Find a communicator of this process by its name.
 *
 * @param commName  in   name
 * @param comm      out  communicator; on the current device if several have the name
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: there is none; or a common result.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommGetHandleWithName(const char *commName, HcclComm *comm);

/**
 * Change a setting of the whole process. If HCCL_DETERMINISTIC is in the environment, the call
 * succeeds and changes nothing.
 *
 * @param config       HCCL_DETERMINISTIC
 * @param configValue  0 off, 1 deterministic, 2 strict order
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such setting or value; HCCL_E_NOT_SUPPORT: not on this SoC.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);

/**
 * Ask for a setting of the whole process.
 *
 * @param config            HCCL_DETERMINISTIC
 * @param configValue  out  value
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such setting; HCCL_E_PTR: NULL; HCCL_E_NOT_SUPPORT: not on
 *         this SoC.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue);

/**
 * Ask for a setting of a communicator, as it counts: the config's, else the environment's, else the
 * default. The expansion mode is HCCL_OP_EXPANSION_MODE_HOST_TS where the host was asked for
 * (hcclOpExpansionMode 1; HCOMM_COLL_ENGINE; HCCL_OP_EXPANSION_MODE HOST or HOST_TS), and
 * HCCL_OP_EXPANSION_MODE_AI_CPU otherwise, whatever was asked for: there is no other here.
 *
 * @param comm     in   communicator
 * @param cfgType       what is asked
 * @param infoLen       bytes at `info`: 4 for the expansion mode, 1600 or more for the algorithm
 * @param info     out  value; the string is filled up with zeros
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: cfgType or infoLen; or a common result.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclConfigGetInfo(HcclComm comm, HcclConfigType cfgType, uint32_t infoLen, void *info);

/**
 * Whether an operation of the communicator has failed after its call had returned.
 *
 * @param comm        in   communicator
 * @param asyncError  out  HCCL_SUCCESS; HCCL_E_REMOTE: a rank that this one has a channel to has
 *                         died, given up or destroyed its end, or this rank's communicator has
 *                         failed: aclGetRecentErrMsg says which; else how a task failed
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: safe, between the making and the end of the communicator.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError);

/**
 * A result in words.
 *
 * @param code  any value
 *
 * @return one English phrase, never NULL; lives as long as the process. The wording may change.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
const char *HcclGetErrorString(HcclResult code);

/**
 * The state of a communicator, by name; for kernels.
 *
 * @param commId  in   name
 * @param status  out  state
 *
 * @return HCCL_SUCCESS, and *status: suspended; invalid, when it has failed because of a peer; or
 *         ready. HCCL_E_PTR: NULL, or no such name.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommGetStatus(const char *commId, HcclCommStatus *status);

/* ---- Ending, suspending, switching ---------------------------------------------------------- */

/**
 * End a communicator and free all it owns: threads, channels, contexts, buffers, windows. The
 * handle must not be used afterwards. One that is stuck making channels may be ended from another
 * OS thread; the stuck call then fails at once.
 *
 * @param comm  in  NULL does nothing
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no such communicator; HCCL_E_AGAIN: busy, try later.
 * Threads: see above; else not while another call uses it.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommDestroy(HcclComm comm);

/**
 * Suspend a communicator after a memory fault: operations fail with HCCL_E_SUSPENDING until
 * HcclCommResume. Operations are the calls that take the communicator and need its peers; queries,
 * what is kept locally and HcclCommDestroy still work. What is queued runs on, and so does what
 * uses a channel, thread or window that is there.
 *
 * @param comm  in  communicator; only this rank of it is suspended
 *
 * @return HCCL_SUCCESS, also when it was suspended before; or a common result.
 * Threads: not while operations are called.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommSuspend(HcclComm comm);

/**
 * Bring a suspended communicator back. Before, stop what is queued (aclrtStreamAbort; a soft NPU
 * has no aclrtDeviceTaskAbort) and let all ranks meet. Notifies that stopped tasks have recorded,
 * and nobody waited for, stay recorded; if collectives were stopped, the next one makes the
 * communicator fail. Callbacks of HcclCommRegCommStateCallback run before and after.
 *
 * @param comm  in  communicator; suspended or not
 *
 * @return HCCL_SUCCESS; HCCL_E_REMOTE: it has failed because of a peer, and cannot go on; what a
 *         callback answers: before, then it stays suspended; or a common result.
 * Threads: not while operations are called.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommResume(HcclComm comm);

/**
 * Have a function called before and after any communicator of the process is destroyed or resumed.
 *
 * @param regName  in  1 to 159 bytes; the same name again replaces the function
 * @param cb       in  function
 * @param args     in  handed to it
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: length of the name; or a common result.
 * Threads: safe. The function runs on the OS thread of the call that ends or resumes.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommRegCommStateCallback(const char *regName, HcclCommStateCallback cb, void *args);

/**
 * Switch ranks between their main and their spare network card. All members call it with equal
 * arguments, with no operation in flight. Soft NPUs have no spare one: nothing is switched, and a
 * warning says so.
 *
 * @param comm       in  communicator
 * @param ranks      in  [nRanks] different ranks to switch
 * @param useBackup  in  [nRanks] true: to the spare card
 * @param nRanks         1 to the number of ranks
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: nRanks, or a rank that does not exist or is listed twice;
 *         HCCL_E_SUSPENDING; or a common result.
 * Threads: calls on one communicator must be serial.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t *ranks, bool *useBackup,
                                    uint32_t nRanks);

/**
 * Hold a stream until every rank's stream has come to the same place. Queues and returns.
 *
 * @param comm    in  communicator
 * @param stream  in  stream to hold; NULL: the default stream; HCOMM_STREAM_INLINE: the calling
 *                    thread waits
 *
 * @return HCCL_SUCCESS, or as the operators of hccl.h.
 * Threads: calls on one communicator must be serial, in one order on all ranks.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);

/* ---- Memory that is used without staging ---------------------------------------------------- */
/*
 * A soft NPU stages nothing for want of such a range: peers map all device memory, so operators use
 * what is mapped there directly whether it is active or not. What these calls give is the order of
 * things: they keep and check what was set and activated, so that a program that runs here makes
 * calls that hardware accepts too. Ranges and active parts are the process': all its communicators
 * see them. No rank waits for another.
 */

/**
 * Set aside a range of addresses, as from aclrtReserveMemAddress. It goes with
 * HcclCommUnsetMemoryRange or with the communicator; but not before other communicators' active
 * parts in it.
 *
 * @param comm        in  communicator, whose ranks must be on one server
 * @param baseVirPtr  in  start; must not overlap another range of the process
 * @param size            bytes, above 0
 * @param alignment       0
 * @param flags           0
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: size, alignment or flags, or the range overlaps another;
 *         HCCL_E_NOT_SUPPORT: ranks on several servers; HCCL_E_MEMORY; or a common result.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommSetMemoryRange(HcclComm comm, void *baseVirPtr, size_t size, size_t alignment,
                                  uint64_t flags);

/**
 * Undo HcclCommSetMemoryRange, of any communicator of the process.
 *
 * @param comm        in  communicator
 * @param baseVirPtr  in  start of the range
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no range starts there, or it has active parts; or a common
 *         result.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void *baseVirPtr);

/**
 * Let operators use memory inside a range without staging, until HcclCommDeactivateCommMemory or
 * the end of the communicator.
 *
 * @param comm    in  communicator
 * @param virPtr  in  start, inside a range of the process; must not overlap an active part
 * @param size        bytes, above 0; if memory is mapped at virPtr already, not beyond its end
 * @param offset      0
 * @param handle  in  the physical memory: from aclrtMallocPhysical or its like
 * @param flags       0
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: size, offset or flags, no live handle of physical memory, not
 *         inside a range, or something there is active already; HCCL_E_MEMORY; or a common result.
 * Threads: safe.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommActivateCommMemory(HcclComm comm, void *virPtr, size_t size, size_t offset,
                                      aclrtDrvMemHandle handle, uint64_t flags);

/**
 * Undo HcclCommActivateCommMemory, of any communicator of the process.
 *
 * @param comm    in  communicator
 * @param virPtr  in  start of the active part
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: no active part starts there; or a common result.
 * Threads: safe; no operation may use it.
 * Source:  spec, communicator, section 3.
 */
HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void *virPtr);

/* ---- Groups --------------------------------------------------------------------------------- */

/**
 * Begin a group on this OS thread; groups nest. What may be in one: the making and ending of
 * communicators; or collectives that do not depend on each other; or sends and receives. The work
 * is done at the outermost HcclGroupEnd.
 *
 * @return HCCL_SUCCESS.
 * Threads: the state belongs to the calling OS thread.
 * Source:  spec, communicator, section 4.
 */
HcclResult HcclGroupStart(void);

/**
 * End a group; the outermost one does the work that was collected.
 *
 * @return HCCL_SUCCESS; HCCL_E_NOT_SUPPORT: there was no HcclGroupStart; or the first error of the
 *         work.
 * Threads: the state belongs to the calling OS thread.
 * Source:  spec, communicator, section 4.
 */
HcclResult HcclGroupEnd(void);

/**
 * Whether this OS thread is inside a group.
 *
 * @param isGroupEnabled  out  answer
 *
 * @return HCCL_SUCCESS, or a common result.
 * Threads: the state belongs to the calling OS thread.
 * Source:  spec, communicator, section 4.
 */
HcclResult HcclGroupStatusGet(bool *isGroupEnabled);

/* ---- Symmetric windows ---------------------------------------------------------------------- */

/**
 * Register device memory of equal size on every rank as one window, so that each rank has the
 * addresses of all (HcclSymWinGetPeerPointer). Returns when every rank has called it: all get the
 * window, or none. Ranks must be on one host.
 *
 * Memory that lies inside a window already, at the same offset on all ranks, is no new window: the
 * handle is that window's, and one HcclCommSymWinDeregister more is due.
 *
 * On an Ascend910_93 the windows of a communicator have at most hcclSymWinMaxMemSizePerRank GB.
 *
 * @param comm       in   communicator
 * @param addr       in   device memory in one piece: from aclrtMalloc, or inside one aclrtMapMem.
 *                        To be kept until every rank has ended the window, or looks no more
 * @param size            bytes, equal on all ranks, above 0
 * @param winHandle  out  end with HcclCommSymWinDeregister; HcclCommDestroy ends those left over
 * @param flag            1
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: size (0, unequal, above the limit), flag, memory that is not
 *         as above, or ranks that make windows of other kinds meanwhile; HCCL_E_MEMORY;
 *         HCCL_E_NOT_SUPPORT: the memory of a rank cannot be mapped here; HCCL_E_REMOTE: a rank
 *         died or could not take part; HCCL_E_TIMEOUT: a rank did not call it in the execution
 *         time limit; HCCL_E_SUSPENDING; or a common result. Wrong arguments are told at once,
 *         without the other ranks, which wait.
 * Threads: calls on one communicator must be serial, in one order on all ranks, together with
 *          HcommWindowCreate.
 * Source:  spec, control plane, section 13.
 */
HcclResult HcclCommSymWinRegister(HcclComm comm, void *addr, uint64_t size,
                                  HcclCommSymWindow *winHandle, uint32_t flag);

/**
 * End a window. A matter of this rank alone: it waits for nobody. The addresses that it got of the
 * other ranks' memory are void then; theirs of its memory stay good until they end the window too.
 *
 * @param winHandle  in  from HcclCommSymWinRegister
 *
 * @return HCCL_SUCCESS; HCCL_E_PTR: NULL; HCCL_E_PARA: no such window.
 * Threads: not while an operation, or a queued task, of this rank uses it.
 * Source:  spec, control plane, section 13.
 */
HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle);

/**
 * Find the window of a communicator that holds a range of this rank's memory. Where there are
 * several, it is the one that was registered first.
 *
 * @param comm       in   communicator
 * @param ptr        in   start of the range
 * @param size            bytes, above 0
 * @param winHandle  out  window; NULL with success if there is none
 * @param offset     out  of ptr in the window, bytes; 0 if there is none
 *
 * @return HCCL_SUCCESS; HCCL_E_PARA: size; or a common result.
 * Threads: safe.
 * Source:  spec, control plane, section 13.
 */
HcclResult HcclCommSymWinGet(HcclComm comm, void *ptr, size_t size, HcclCommSymWindow *winHandle,
                             size_t *offset);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
