import CoreLocation

// Beacon send MAJOR MINOR: makes this machine a beacon until it is stopped.
// Beacon watch [LISTS]: says when such beacons come and go, and how near they are; ends after so many lists.
func usage() -> Never {
  print("Usage: Beacon send MAJOR MINOR | Beacon watch [LISTS]")
  exit(64)
}

guard let uuid = UUID(uuidString: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0") else { usage() }
let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "send" where words.count == 3:
  guard let major = UInt16(words[1]), let minor = UInt16(words[2]) else { usage() }
  let sender = BeaconSender(region: CLBeaconRegion(uuid: uuid, major: major, minor: minor, identifier: "own"))
  sender.start()
  withExtendedLifetime(sender) { RunLoop.main.run() }
case "watch":
  let region = CLBeaconRegion(uuid: uuid, identifier: "the house")
  let watcher = BeaconWatcher(region: region, lists: words.count > 1 ? Int(words[1]) ?? 3 : .max)
  watcher.start()
  withExtendedLifetime(watcher) { RunLoop.main.run() }
default:
  usage()
}
