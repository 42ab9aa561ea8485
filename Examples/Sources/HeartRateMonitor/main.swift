import Foundation

// HeartRateMonitor [COUNT]: prints COUNT measurements (default: 5) of the first belt in range.
let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
let monitor = HeartRateMonitor(count: count) { exit(0) }
monitor.start()
RunLoop.main.run()
