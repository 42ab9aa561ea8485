import Foundation

// ThermometerLogger [COUNT] [FILE]: logs COUNT measurements (all, if missing) and remembers the thermometer in FILE
// (thermometer.id in the current folder).
let arguments = Array(CommandLine.arguments.dropFirst())
let count = arguments.first.flatMap { Int($0) } ?? .max
let file = URL(fileURLWithPath: arguments.dropFirst().first ?? "thermometer.id")
let logger = ThermometerLogger(count: count, memory: ThermometerMemory(file: file)) { exit(0) }
logger.start()
RunLoop.main.run()
