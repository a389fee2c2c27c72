/// How long to look.
struct Extent {
    /// The median of so many counts; what is compared is interleaved.
    let rounds: Int
    let run: Duration
    let connections: [Int]
    /// Drafts in the tables whose size is to make no difference.
    let sizes: [Int]

    static let whole = Extent(
        rounds: 5,
        run: .seconds(4),
        connections: [1, 16, 64, 256],
        sizes: [10_000, 1_000_000, 10_000_000]
    )
    /// Under three minutes, once built.
    static let quick = Extent(rounds: 3, run: .seconds(1), connections: [1, 16, 64], sizes: [10_000, 100_000])
}
