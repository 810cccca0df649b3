# Writes <output>, which defines berth::host::<function>(): the text of every file of <list>, a file
# with lines "<name> <path>".
#   cmake -DLIST=<list> -DFUNCTION=<function> -DOUTPUT=<output> -P embed.cmake
file(STRINGS ${LIST} entries)
set(code "// Written by host/cli/embed.cmake.\n#include \"host/cli/embedded_files.h\"\n\n"
         "namespace berth::host {\nnamespace {\n\n"
         "constexpr EmbeddedFile k${FUNCTION}[] = {\n")
string(JOIN "" code ${code})
foreach(entry IN LISTS entries)
  string(REGEX MATCH "^([^ ]+) (.+)$" matched "${entry}")
  file(READ "${CMAKE_MATCH_2}" text)
  string(APPEND code "    {\"${CMAKE_MATCH_1}\",\n     R\"berth_file(${text})berth_file\"},\n")
endforeach()
string(APPEND code "};\n\n}  // namespace\n\n"
       "std::span<const EmbeddedFile> ${FUNCTION}() { return k${FUNCTION}; }\n\n"
       "}  // namespace berth::host\n")
file(WRITE ${OUTPUT} "${code}")
