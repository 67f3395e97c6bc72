//! PROFILE's own figures in cycles, which its author measured on a Pentium and an Athlon.

/// A routine of 0 … 18 NOPs and a RET, minus the cost of the RET.
pub const NOPS: [[u32; 2]; 19] = [
    [0, 0],
    [1, 1],
    [1, 1],
    [2, 1],
    [2, 2],
    [3, 2],
    [3, 2],
    [4, 3],
    [4, 3],
    [5, 3],
    [5, 4],
    [6, 4],
    [6, 4],
    [7, 5],
    [7, 5],
    [8, 5],
    [8, 6],
    [9, 6],
    [9, 6],
];

/// The loop with 1 … 18 iterations.
pub const TURNS: [[u32; 2]; 18] = [
    [2, 1],
    [10, 2],
    [11, 3],
    [16, 4],
    [21, 5],
    [26, 6],
    [31, 7],
    [36, 8],
    [41, 9],
    [46, 24],
    [51, 25],
    [56, 26],
    [61, 27],
    [66, 28],
    [71, 29],
    [76, 30],
    [81, 31],
    [86, 32],
];
