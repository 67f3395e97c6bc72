//! The figures in the README of instmeas (github.com/misoboute/instmeas, "Sample output", samples 1 to 7).

/// The names of instmeas' instructions, and those in the catalogue.
pub(crate) const LISTINGS: [(&str, &str, &str); 10] = [
    ("IDIV_R64", "idiv", "r64 39916801/5039"),
    ("XOR_R64", "xor", "r64,r64 same"),
    ("XOR_I32_R64", "xor", "r64,imm32"),
    ("MOV_R_I64", "mov", "r64,imm64"),
    ("INC_R64", "inc", "r64"),
    ("DEC_R64", "dec", "r64"),
    ("INC_M64", "inc", "[m64]"),
    ("DEC_M64", "dec", "[m64]"),
    ("INC_M32", "inc", "[m32]"),
    ("DEC_M32", "dec", "[m32]"),
];

/// One sample output.
pub(crate) struct Sample {
    /// The processor on which it ran.
    pub(crate) processor: &'static str,
    /// The ticks of each of [`LISTINGS`] that the sample has.
    pub(crate) ticks: [Option<f64>; LISTINGS.len()],
}

/// The samples in the order of the README. The second calls the second row `XOR_R_R64`, and does not have the third.
pub(crate) const SAMPLES: [Sample; 7] = [
    Sample {
        processor: "Intel Xeon W-2135 at 3.70 GHz, Windows 10, clang 12",
        ticks: all([34.97, 0.27, 0.88, 0.54, 0.90, 0.85, 4.58, 4.62, 4.64, 4.63]),
    },
    Sample {
        processor: "Intel Core i7-4870HQ at 2.50 GHz, Ubuntu 22.10, clang 13",
        ticks: [
            Some(16.12),
            Some(0.34),
            None,
            Some(0.56),
            Some(0.73),
            Some(0.74),
            Some(4.50),
            Some(4.49),
            Some(4.53),
            Some(4.46),
        ],
    },
    Sample {
        processor: "Intel Xeon at 2.00 GHz, onlinegdb",
        ticks: all([30.64, 0.23, 0.75, 0.47, 0.75, 0.75, 4.09, 4.09, 4.10, 4.10]),
    },
    Sample {
        processor: "AMD EPYC 7R32, godbolt",
        ticks: all([18.54, 0.35, 0.94, 0.87, 0.86, 0.87, 6.02, 5.99, 6.10, 6.07]),
    },
    Sample {
        processor: "Intel Xeon Platinum 8275CL at 3.00 GHz, godbolt",
        ticks: all([35.41, 0.35, 0.87, 0.65, 0.86, 0.87, 4.83, 4.81, 4.66, 4.63]),
    },
    Sample {
        processor: "Intel Xeon Platinum 8124M at 3.00 GHz, godbolt",
        ticks: all([38.06, 0.37, 0.91, 0.91, 0.90, 0.89, 4.75, 4.74, 4.82, 4.74]),
    },
    Sample {
        processor: "Intel Xeon Platinum 8375C at 2.90 GHz, godbolt",
        ticks: all([11.63, 0.26, 0.85, 0.53, 0.85, 0.89, 6.34, 6.36, 6.34, 6.30]),
    },
];

const fn all(ticks: [f64; LISTINGS.len()]) -> [Option<f64>; LISTINGS.len()] {
    let mut all = [None; LISTINGS.len()];
    let mut i = 0;
    while i < ticks.len() {
        all[i] = Some(ticks[i]);
        i += 1;
    }
    all
}
