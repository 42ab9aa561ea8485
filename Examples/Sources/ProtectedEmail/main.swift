import Foundation

// ProtectedEmail [ADDRESS]: offers ADDRESS (alice@example.org) to paired devices until it is stopped.
let device = ProtectedEmail(address: CommandLine.arguments.dropFirst().first ?? "alice@example.org")
device.start()
RunLoop.main.run()
