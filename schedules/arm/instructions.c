/* SPDX-License-Identifier: MIT */
/* Declares the instructions of 8-bit and 16-bit layers. Each is a macro of runtime/simd/rows.h. The header of a core
 * that has the instruction defines the macro; on any other core, it is computed in C. Sums are added to the old
 * contents of the result, and wrap. */
#include "ir/nest/instruction.h"

/* rows of windows are products of rows with one more dimension */
#define PANEL(pixel, of, element) \
    "[n,m,d](a: i8" of "[n][d], b: i8[n][m][d]) c[" pixel "] = sum(q<n,t<d) " element " * i32(b[q,o,t])"
#define PANEL_I16(pixel, of, index) \
    "[n,m](a: i16" of "[n][2], b: i8[n][m][2]) c[" pixel "] = sum(q<n,t<2) i32(a[" index "]) * i32(b[q,o,t])"
#define WINDOW_PANEL(pixel, of, element) \
    "[kh,n,m,d](a: i8" of "[kh][n][d], b: i8[kh][n][m][d]) c[" pixel "] = " \
    "sum(i<kh,q<n,t<d) " element " * i32(b[i,q,o,t])"
/* channel h of two of 4 bits, even + 8 + 16 * odd */
#define NIBBLE(of) "(((i32(" of ") >> h*4) + h*8 & 15) - 8)"
/* roundshift(mulhigh(of, m), s) + zero, as a byte between least and most */
#define SCALED(of, m, s) "i8(min(max(roundshift(mulhigh(" of ", " m "), " s ") + zero, least), most))"
#define TERM(of, z, m, s) "roundshift(mulhigh(i32(" of ") + " z " << 20, " m "), " s ")"

const InstructionRow instructions_arm[] = {
    /* Rows of bytes: w pixels by o channels */
    { "LW_DOT_2X2_I8[n](a: i8[2][n], b: i8[2][n]) c[w<2,o<2] = sum(e<n) i32(a[w,e]) * i32(b[o,e])", NULL },
    { "LW_DOT_2X1_I8[n](a: i8[2][n], b: i8[1][n]) c[w<2,o<1] = sum(e<n) i32(a[w,e]) * i32(b[o,e])", NULL },
    { "LW_DOT_1X4_I8[n](a: i8[1][n], b: i8[4][n]) c[w<1,o<4] = sum(e<n) i32(a[w,e]) * i32(b[o,e])", NULL },
    { "LW_DOT_1X2_I8[n](a: i8[1][n], b: i8[2][n]) c[w<1,o<2] = sum(e<n) i32(a[w,e]) * i32(b[o,e])", NULL },
    { "LW_DOT_1X1_I8[n](a: i8[1][n], b: i8[1][n]) c[w<1,o<1] = sum(e<n) i32(a[w,e]) * i32(b[o,e])", NULL },
    { "LW_DOT_2XN_I8[n,m](a: i8[2][n], b: i8[m][n]) c[w<2,o<m] = sum(e<n) i32(a[w,e]) * i32(b[o,e])", "mve" },
    { "LW_DOT_1XN_I8[n,m](a: i8[n], b: i8[m][n]) c[o<m] = sum(e<n) i32(a[e]) * i32(b[o,e])", "mve" },
    /* Pairs of 16-bit elements */
    { "LW_DOT_2X2_I16[n](a: i16[2][n][2][2], b: i8[2][n][2][2]) c[w<2,o<2] = "
      "sum(q<n,s<2,t<2) i32(a[w,q,s,t]) * i32(b[o,q,t,s])", "dsp" },
    /* Two rows of weights in a number, even + 256 * odd */
    { "LW_DOT_2X4_I16[n](a: i16[n][2][2], b: i16[n][2][2]) c[w<2,p<2,h<2] = "
      "sum(q<n,t<2) i32(a[q,w,t]) * i32(i8(i32(b[q,p,t]) + h*128 >> h*8))", "dsp" },
    { "LW_DOT_1X4_PAIRS_I8[n](a: i8[n][2][2], b: i16[n][2][2][2]) c[p<2,h<2] = "
      "sum(q<n,s<2,t<2) i32(a[q,t,s]) * i32(i8(i32(b[q,s,p,t]) + h*128 >> h*8))", "dsp" },
    /* Four rows of 4 bits in a number */
    { "LW_DOT_2X4_FOURS[n](a: i16[n][2][2], b: u16[n][2]) c[w<2,h<4] = "
      "sum(q<n,t<2) i32(a[q,w,t]) * ((i32(b[q,t]) + 32768 >> h*4 & 15) - 8)", "dsp" },
    { "LW_DOT_2XN_FOURS[n,m](a: i16[n][2][2], b: u16[m][n][2]) c[w<2,u<m,h<4] = "
      "sum(q<n,t<2) i32(a[q,w,t]) * ((i32(b[u,q,t]) + 32768 >> h*4 & 15) - 8)", "dsp" },
    { "LW_DOT_1X4_FOURS_I8[n](a: i8[n][2][2], b: u16[n][2][2]) c[h<4] = "
      "sum(q<n,s<2,t<2) i32(a[q,t,s]) * ((i32(b[q,s,t]) + 32768 >> h*4 & 15) - 8)", "dsp" },
    { "LW_DOT_1XN_FOURS_I8[n,m](a: i8[n][2][2], b: u16[m][n][2][2]) c[u<m,h<4] = "
      "sum(q<n,s<2,t<2) i32(a[q,t,s]) * ((i32(b[u,q,s,t]) + 32768 >> h*4 & 15) - 8)", "dsp" },
    /* Rows of 4 or 2 bits in a word; one 32-bit product computes two of them */
    { "LW_DOT_EIGHTS_I8[n,m](a: i8[n], b: u32[m][n]) c[u<m,h<8] = "
      "sum(e<n) i32(a[e]) * ((i32(b[u,e]) >> h*4 & 15) - 8)", "words" },
    { "LW_DOT_1X8_EIGHTS_I8[n](a: i8[n], b: u32[n]) c[h<8] = "
      "sum(e<n) i32(a[e]) * ((i32(b[e]) >> h*4 & 15) - 8)", "words" },
    { "LW_DOT_SIXTEENS_I8[n,m](a: i8[n], b: i32[m][n]) c[u<m,h<16] = "
      "sum(e<n) i32(a[e]) * ((b[u,e] >> h*2 & 3) - 2)", NULL },
    { "LW_DOT_1X16_SIXTEENS_I8[n](a: i8[n], b: i32[n]) c[h<16] = "
      "sum(e<n) i32(a[e]) * ((b[e] >> h*2 & 3) - 2)", NULL },
    /* Panels of 16 elements, of which two channels of 4 bits share bytes */
    { "LW_NIBBLES_I8[n,m](a: i8[n][16], b: i8[n][m][16]) c[u<m,h<2] = sum(q<n,t<16) i32(a[q,t]) * " NIBBLE("b[q,u,t]"),
      "mve" },
    { "LW_NIBBLES_PAIR_I8[n,m](a: i8[2][n][16], b: i8[n][m][16]) c[u<m,h<2,w<2] = "
      "sum(q<n,t<16) i32(a[w,q,t]) * " NIBBLE("b[q,u,t]"), "mve" },
    { "LW_WINDOW_NIBBLES_I8[kh,n,m](a: i8[kh][n][16], b: i8[kh][n][m][16]) c[u<m,h<2] = "
      "sum(i<kh,q<n,t<16) i32(a[i,q,t]) * " NIBBLE("b[i,q,u,t]"), "mve" },
    { "LW_WINDOW_NIBBLES_PAIR_I8[kh,n,m](a: i8[2][kh][n][16], b: i8[kh][n][m][16]) c[u<m,h<2,w<2] = "
      "sum(i<kh,q<n,t<16) i32(a[w,i,q,t]) * " NIBBLE("b[i,q,u,t]"), "mve" },
    /* 64-bit sums: a word holds weights of four channels, 128 added to the even ones */
    { "LW_DOT_LONG_I8[n,m](a: i8[n], b: u8[m][n][2][2]) c[u<m,p<2,h<2] = "
      "sum(e<n) i32(a[e]) * i32(i8(i32(b[u,e,p,h]) - h*128 + 128))", "long" },
    { "LW_DOT_1X4_LONG_I8[n](a: i8[n], b: u8[n][2][2]) c[p<2,h<2] = "
      "sum(e<n) i32(a[e]) * i32(i8(i32(b[e,p,h]) - h*128 + 128))", "long" },
    /* Four pixels, two in a number */
    { "LW_DOT_WORDS_I8[n](a: i32[n][2], b: i8[1][n]) c[p<2,h<2,o<1] = "
      "sum(e<n) i32(i8(a[e,p] + h*32768 >> h*16)) * i32(b[o,e])", "words" },
    /* Panels: d adjacent elements of each of m channels */
    { "LW_PANEL_I16" PANEL_I16("o<m", "", "q,t"), "panels" },
    { "LW_PANEL2_I16" PANEL_I16("w<2,o<m", "[2]", "w,q,t"), "panels" },
    { "LW_PANEL4_I16" PANEL_I16("w<4,o<m", "[4]", "w,q,t"), "panels" },
    { "LW_PANEL_I8" PANEL("o<m", "", "i32(a[q,t])"), "panels" },
    { "LW_PANEL2_I8" PANEL("w<2,o<m", "[2]", "i32(a[w,q,t])"), "panels" },
    { "LW_PANEL3_I8" PANEL("w<3,o<m", "[3]", "i32(a[w,q,t])"), "panels" },
    { "LW_PANEL4_I8" PANEL("w<4,o<m", "[4]", "i32(a[w,q,t])"), "panels" },
    { "LW_PANEL5_I8" PANEL("w<5,o<m", "[5]", "i32(a[w,q,t])"), "panels" },
    { "LW_PANEL_U8" PANEL("o<m", "", "(i32(a[q,t]) + 128)"), "vnni" },
    { "LW_PANEL2_U8" PANEL("w<2,o<m", "[2]", "(i32(a[w,q,t]) + 128)"), "vnni" },
    { "LW_PANEL4_U8" PANEL("w<4,o<m", "[4]", "(i32(a[w,q,t]) + 128)"), "vnni" },
    { "LW_PANEL_PAIR_I8" PANEL("o<m,w<2", "[2]", "i32(a[w,q,t])"), "mve" },
    { "LW_WINDOW_PANEL_I8" WINDOW_PANEL("o<m", "", "i32(a[i,q,t])"), "dotprod" },
    { "LW_WINDOW2_PANEL_I8" WINDOW_PANEL("w<2,o<m", "[2]", "i32(a[w,i,q,t])"), "dotprod" },
    { "LW_WINDOW4_PANEL_I8" WINDOW_PANEL("w<4,o<m", "[4]", "i32(a[w,i,q,t])"), "dotprod" },
    { "LW_WINDOW_PANEL_U8" WINDOW_PANEL("o<m", "", "(i32(a[i,q,t]) + 128)"), "vnni" },
    { "LW_WINDOW2_PANEL_U8" WINDOW_PANEL("w<2,o<m", "[2]", "(i32(a[w,i,q,t]) + 128)"), "vnni" },
    { "LW_WINDOW4_PANEL_U8" WINDOW_PANEL("w<4,o<m", "[4]", "(i32(a[w,i,q,t]) + 128)"), "vnni" },
    { "LW_WINDOW_PANEL_PAIR_I8" WINDOW_PANEL("o<m,w<2", "[2]", "i32(a[w,i,q,t])"), "mve" },
    /* windows over n channels, with one product per channel and tap */
    { "LW_WINDOW_I8[kh,kw,n](a: i8[kh][kw][n], b: i8[kh][kw][n]) c[o<n] = "
      "sum(i<kh,j<kw) i32(a[i,j,o]) * i32(b[i,j,o])", NULL },
    { "LW_WINDOW2_I8[kh,kw,n](a: i8[kh][2][kw][n], b: i8[kh][kw][n]) c[w<2,o<n] = "
      "sum(i<kh,j<kw) i32(a[i,w,j,o]) * i32(b[i,j,o])", NULL },
    { "LW_WINDOW2_TILES_I8[kh,kw,t,n](a: i8[kh][2][kw][t][n], b: i8[t][kh][kw][n]) c[w<2,u<t,o<n] = "
      "sum(i<kh,j<kw) i32(a[i,w,j,u,o]) * i32(b[u,i,j,o])", "mve" },
    { "LW_TAPS_I8[k,n](a: i8[k][n], b: i8[k][n]) c[o<n] = sum(i<k) i32(a[i,o]) * i32(b[i,o])", NULL },
    { "LW_TAPS2_I8[k,n](a: i8[k][2][n], b: i8[k][n]) c[w<2,o<n] = sum(i<k) i32(a[i,w,o]) * i32(b[i,o])", NULL },
    { "LW_TAPS2_TILES_I8[k,t,n](a: i8[k][2][t][n], b: i8[t][k][n]) c[w<2,u<t,o<n] = "
      "sum(i<k) i32(a[i,w,u,o]) * i32(b[u,i,o])", "mve" },
    /* Columns of two rows of the output, channel by channel */
    { "LW_COLUMNS_I16[r,m,n](a: i8[r][m][n]) y[c<n,w<m,i<r] = i16(a[i,w,c])", "dsp" },
    { "LW_DOT_COLUMNS_I16[kh,kw,n,m,2](a: i16[n][m][kw][2][kh], b: i8[n][kw][kh]) c[o<n,w<m,h<2] = "
      "sum(j<kw,i<kh) i32(a[o,w,j,h,i]) * i32(b[o,j,i])", "dsp" },
    /* Pools */
    { "LW_SUM_WINDOW_I8[kh,kw,n](a: i8[kh][kw][n]) y[o<n] = sum(i<kh,j<kw) i32(a[i,j,o])", NULL },
    { "LW_MAX_WINDOW_I8[kh,kw,n](a: i8[kh][kw][n]) y[o<n] = max(i<kh,j<kw) a[i,j,o]", NULL },
    { "LW_SUM_TAPS_I8[k,n](a: i8[k][n]) y[o<n] = sum(i<k) i32(a[i,o])", NULL },
    { "LW_MAX_TAPS_I8[k,n](a: i8[k][n]) y[o<n] = max(i<k) a[i,o]", NULL },
    { "LW_MAX_IF_I8[n](p: bool, a: i8[1][n]) y[o<n] = max(k<1) select(p, a[k,o], -128)", NULL },
    /* Copies: elements unchanged, widened, in alternating pairs, or of two pixels in one number. FETCH gives `fill` if
     * p is false. */
    { "LW_COPY_I8[n](a: i8[n]) y[e<n] = a[e]", NULL },
    { "LW_COPY_I16[n](a: i8[n]) y[e<n] = i16(a[e])", NULL },
    { "LW_PAIRS_I16[n](a: i8[2][n][2]) y[w<2,q<n,t<2] = i16(a[w,q,t])", "dsp" },
    { "LW_WORDS_I8[n](a: i8[n], b: i8[n]) y[e<n,u<1] = i32(a[e]) + i32(b[e])*65536", "words" },
    { "LW_WORDS_IF_I8[n](p: bool, q: bool, a: i8[n], b: i8[n]) y[e<n,u<1] = "
      "select(p, i32(a[e]), 0) + select(q, i32(b[e]), 0)*65536", "words" },
    /* elements of 4 and 2 bits from n groups of m bytes */
    { "LW_UNPACK4_I8[n,m,least](a: u8[n][m]) y[g<n,p<2,t<m] = i8((i32(a[g,t]) >> p*4 & 15) + least)", NULL },
    { "LW_UNPACK2_I8[n,m,least](a: u8[n][m]) y[g<n,p<4,t<m] = i8((i32(a[g,t]) >> p*2 & 3) + least)", NULL },
    { "LW_FETCH_I8[n,fill](p: bool, a: i8[n]) y[e<n] = select(p, a[e], i8(fill))", NULL },
    { "LW_FETCH_I16[n,fill](p: bool, a: i8[n]) y[e<n] = i16(select(p, a[e], i8(fill)))", NULL },
    /* copies m pixels: `left` pixels of fill, `inner` pixels of a, and fill for the remaining pixels; the first `own`
     * of n channels come from a */
    { "LW_FETCH_ROW_I8[m,left,inner,n,own,fill](p: bool, a: i8[m][n]) y[w<m,c<n] = "
      "select(p && left <= w && w < left + inner && c < own, a[w,c], i8(fill))", NULL },
    /* first values of the sums for one pixel, for two, and for two whose sums alternate */
    { "LW_COPY_I32[n](a: i32[n]) y[e<n] = a[e]", NULL },
    { "LW_COPY2_I32[n](a: i32[n]) y[w<2,e<n] = a[e]", NULL },
    { "LW_COPY_PAIR_I32[n](a: i32[n]) y[e<n,w<2] = a[e]", "mve" },
    /* epilogues of layers, for vectors only */
    { "LW_SCALE_I8[n,zero,least,most](a: i32[n], m: i32, s: i32) y[e<n] = " SCALED("a[e]", "m", "s"), "bytes" },
    { "LW_SCALE_EACH_I8[n,zero,least,most](a: i32[n], m: i32[n], s: u8[n]) y[e<n] = "
      SCALED("a[e]", "m[e]", "i32(s[e])"), "bytes" },
    { "LW_SCALE2_EACH_I8[n,zero,least,most](a: i32[2][n], m: i32[n], s: u8[n]) y[w<2,e<n] = "
      SCALED("a[w,e]", "m[e]", "i32(s[e])"), "bytes" },
    { "LW_SCALE_PAIR_I8[n,zero,least,most](a: i32[n][2], m: i32[n], s: u8[n]) y[w<2,e<n] = "
      SCALED("a[e,w]", "m[e]", "i32(s[e])"), "mve" },
    { "LW_SCALE_PAIR_ALL_I8[n,zero,least,most](a: i32[n][2], m: i32, s: i32) y[w<2,e<n] = "
      SCALED("a[e,w]", "m", "s"), "mve" },
    { "LW_ADD_I8[n,za,ma,sa,zb,mb,sb,mc,sc,zero,least,most](a: i8[n], b: i8[n]) y[e<n] = "
      SCALED(TERM("a[e]", "za", "ma", "sa") " + " TERM("b[e]", "zb", "mb", "sb"), "mc", "sc"), "bytes" },
    /* LW_ADD_I8 for sums that are a line for all bytes, which the schedule proves */
    { "LW_ADD_LINE_I8[n,ka,la,kb,lb,c,s,least,most; za,ma,sa,zb,mb,sb,mc,sc,zero](a: i8[n], b: i8[n]) y[e<n] = "
      SCALED(TERM("a[e]", "za", "ma", "sa") " + " TERM("b[e]", "zb", "mb", "sb"), "mc", "sc"), "avx2" },
    { NULL, NULL }
};
