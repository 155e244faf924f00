#ifndef STEAD_CRC32C_H
#define STEAD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

// CRC-32C (Castagnoli), as in RFC 3720: polynomial 0x1EDC6F41, reflected, inverted at both ends.
// `crc` is 0 to begin with, or what the call for the bytes before returned.
uint32_t stead_crc32c(uint32_t crc, const void *_Nonnull bytes, size_t count);

// The checksum of a record: of a number of four bytes, and then of that many bytes.
uint32_t stead_crc32c_record(uint32_t crc, const void *_Nonnull payload, uint32_t count);

// The two ways in which it is computed, for the tests to compare. The second one may only be called
// where the processor has the instruction.
uint32_t stead_crc32c_by_table(uint32_t crc, const void *_Nonnull bytes, size_t count);
uint32_t stead_crc32c_by_instruction(uint32_t crc, const void *_Nonnull bytes, size_t count);
int stead_crc32c_has_instruction(void);

#endif
