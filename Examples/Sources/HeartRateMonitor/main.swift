import Foundation

// HeartRateMonitor [COUNT]: prints COUNT measurements (5) of the first belt in reach.
let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
let monitor = HeartRateMonitor(count: count) { exit(0) }
monitor.start()
RunLoop.main.run()
