/// How much the goals measure.
struct Extent {
    /// The number of measurements, of which the median counts. Designs that are compared are measured in turns.
    let rounds: Int
    let run: Duration
    let connections: [Int]
    /// The numbers of drafts between which the times of steps are compared.
    let sizes: [Int]

    static let whole = Extent(
        rounds: 5,
        run: .seconds(4),
        connections: [1, 16, 64, 256],
        sizes: [10_000, 1_000_000, 10_000_000]
    )
    /// Less than three minutes, without the build.
    static let quick = Extent(rounds: 3, run: .seconds(1), connections: [1, 16, 64], sizes: [10_000, 100_000])
}
