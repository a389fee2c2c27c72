/// The number and the duration of the measurements of the goals.
struct Extent {
    /// The number of measurements; the result is their median. Designs that are compared are measured alternately.
    let rounds: Int
    let run: Duration
    let connections: [Int]
    /// The numbers of drafts in the table for which the times of steps are compared.
    let sizes: [Int]

    static let whole = Extent(
        rounds: 5,
        run: .seconds(4),
        connections: [1, 16, 64, 256],
        sizes: [10_000, 1_000_000, 10_000_000]
    )
    /// Shorter measurements on smaller tables.
    static let quick = Extent(rounds: 3, run: .seconds(1), connections: [1, 16, 64], sizes: [10_000, 100_000])
}
