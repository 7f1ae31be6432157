/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/kernel_elf.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define MACHINE EM_PPC64
#elif defined(__loongarch__)
#define MACHINE 258
#else
#error "say which ELF machine this is"
#endif

/* The section table, copied out of the file piece by piece: nothing in it need be aligned. */
struct sections {
    const uint8_t *bytes;
    size_t len;
    Elf64_Ehdr header;
};

static bool
inside(size_t len, uint64_t offset, uint64_t size)
{
    return offset <= len && size <= len - offset;
}

static bool
read_header(const uint8_t *bytes, size_t len, Elf64_Ehdr *header)
{
    if (len < sizeof *header)
        return false;
    memcpy(header, bytes, sizeof *header);
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_type == ET_DYN &&
           header->e_machine == MACHINE &&
           inside(len, header->e_phoff, (uint64_t)header->e_phnum * header->e_phentsize);
}

bool
rt_elf_loadable(const uint8_t *bytes, size_t len)
{
    Elf64_Ehdr header;

    return read_header(bytes, len, &header);
}

/* false: there is no usable section table. */
static bool
sections_open(struct sections *sections, const uint8_t *bytes, size_t len)
{
    sections->bytes = bytes;
    sections->len = len;
    return read_header(bytes, len, &sections->header) && sections->header.e_shnum > 0 &&
           sections->header.e_shentsize == sizeof(Elf64_Shdr) &&
           inside(len, sections->header.e_shoff,
                  (uint64_t)sections->header.e_shnum * sizeof(Elf64_Shdr));
}

static bool
section_at(const struct sections *sections, uint32_t index, Elf64_Shdr *section)
{
    if (index >= sections->header.e_shnum)
        return false;
    memcpy(section, sections->bytes + sections->header.e_shoff + index * sizeof *section,
           sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           inside(sections->len, section->sh_offset, section->sh_size);
}

/* The text at `offset` of a string section; "" if there is none. */
static const char *
text_at(const struct sections *sections, const Elf64_Shdr *strings, uint32_t offset)
{
    const char *text;

    if (strings->sh_type != SHT_STRTAB || offset >= strings->sh_size)
        return ""; /* without bytes in the file, the section's place is anything */
    text = (const char *)sections->bytes + strings->sh_offset + offset;
    return memchr(text, '\0', strings->sh_size - offset) == NULL ? "" : text;
}

/* Sections that the loader or the compiler's start-up code writes, never the library's own code. */
static bool
is_machinery(const char *name)
{
    static const char *const known[] = {".init_array", ".fini_array",  ".preinit_array",
                                        ".ctors",      ".dtors",       ".jcr",
                                        ".dynamic",    ".got",         ".got.plt",
                                        ".plt",        ".data.rel.ro", ".tm_clone_table"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i]) == 0)
            return true;
    }
    return false;
}

/* Start-up code's own variables in .data and .bss. */
static bool
is_startup_variable(const char *name)
{
    return strncmp(name, "completed.", 10) == 0 || strcmp(name, "completed") == 0 ||
           strcmp(name, "__dso_handle") == 0 || strcmp(name, "__TMC_END__") == 0;
}

/* Whether the symbol table names a variable in section `index`; true also without a table. */
static bool
names_variable(const struct sections *sections, uint32_t index)
{
    Elf64_Shdr table, strings;

    for (uint32_t i = 0; i < sections->header.e_shnum; i++) {
        if (!section_at(sections, i, &table) || table.sh_type != SHT_SYMTAB ||
            !section_at(sections, table.sh_link, &strings))
            continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;

            memcpy(&symbol, sections->bytes + table.sh_offset + at, sizeof symbol);
            if (symbol.st_shndx == index && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                !is_startup_variable(text_at(sections, &strings, symbol.st_name)))
                return true;
        }
        return false;
    }
    return true;
}

bool
rt_elf_has_state(const uint8_t *bytes, size_t len)
{
    struct sections sections;
    Elf64_Shdr section, names;

    if (!sections_open(&sections, bytes, len) ||
        !section_at(&sections, sections.header.e_shstrndx, &names))
        return true;
    for (uint32_t i = 0; i < sections.header.e_shnum; i++) {
        const char *name;

        if (!section_at(&sections, i, &section))
            return true;
        name = text_at(&sections, &names, section.sh_name);
        if ((section.sh_flags & SHF_WRITE) == 0 || (section.sh_flags & SHF_ALLOC) == 0 ||
            section.sh_size == 0 || is_machinery(name))
            continue;
        if ((strcmp(name, ".data") != 0 && strcmp(name, ".bss") != 0) || section.sh_size > 8 ||
            names_variable(&sections, i))
            return true;
    }
    return false;
}

void
rt_elf_make_private(uint8_t *bytes, size_t len)
{
    struct sections sections;
    Elf64_Shdr table;

    if (!sections_open(&sections, bytes, len))
        return;
    for (uint32_t i = 0; i < sections.header.e_shnum; i++) {
        if (!section_at(&sections, i, &table) || table.sh_type != SHT_DYNSYM)
            continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;

            memcpy(&symbol, bytes + table.sh_offset + at, sizeof symbol);
            if (ELF64_ST_BIND(symbol.st_info) != STB_GNU_UNIQUE || symbol.st_shndx == SHN_UNDEF)
                continue;
            symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbol.st_info));
            memcpy(bytes + table.sh_offset + at, &symbol, sizeof symbol);
        }
    }
}
