import Foundation

// ProtectedEmail [ADDRESS]: offers ADDRESS (alice@example.org) to paired devices until it is stopped.
setvbuf(stdout, nil, _IOLBF, 0)
let device = ProtectedEmail(address: CommandLine.arguments.dropFirst().first ?? "alice@example.org")
device.start()
RunLoop.main.run()
