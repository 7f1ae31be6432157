/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address: which address and port of this host the ranks of a communicator meet at.
 */
#ifndef HC_BOOTSTRAP_ADDRESS_H
#define HC_BOOTSTRAP_ADDRESS_H

#include <sys/socket.h>

#include "hccl/hccl_types.h"

#define ADDRESS_TEXT_LEN 64u

/* The address to advertise, port 0: HCCL_IF_IP, else what HCCL_SOCKET_IFNAME chooses, else the
 * first interface that is up and no loopback or container bridge, else a bridge, else loopback.
 * HCCL_E_PARA (logged): the environment asks for something that is not there. */
HcclResult address_choose(struct sockaddr_storage *addr);

/* A listening socket on `addr`, non-blocking; fills in its port. HCCL_E_SYSCALL (logged, EI0019).
 */
HcclResult address_listen(struct sockaddr_storage *addr, int *fd);

/* "192.0.2.2:60000" or "[2001:db8::1]:60000"; without a port when it is 0. */
void address_text(char *text, size_t len, const struct sockaddr_storage *addr);

/* The peer's host going away without a word is noticed within half a minute. */
void address_keep_alive(int fd);

socklen_t address_len(const struct sockaddr_storage *addr);

#endif
