/// A time to wait as people say it, rounded up: in seconds below a minute, in minutes up to 59 minutes, otherwise in
/// hours. At least one second.
package enum RoundedWait: Hashable, Sendable {
    case seconds(Int)
    case minutes(Int)
    case hours(Int)

    package init(seconds: Int) {
        let minutes = (seconds + 59) / 60
        if seconds < 60 {
            self = .seconds(max(1, seconds))
        } else if minutes < 60 {
            self = .minutes(minutes)
        } else {
            self = .hours((minutes + 59) / 60)
        }
    }
}
