import ArgumentParser
import BledRPC
import JSONFiles

/// The option for the keys of sensors that encrypt their measurements.
struct SensorKeyOption: ParsableArguments {
  @Option(
    help: "A JSON file with the keys of devices that encrypt their advertising data: {\"ADDRESS\": \"HEX\"}.",
    completion: .file())
  var keys: String?

  /// The keys; nil without the option. They are in a file, as all users can see the arguments of a process.
  /// - Throws: the fault of the file and its place.
  func read() throws(FileError) -> [ScanStart.Key]? {
    guard let keys else { return nil }
    var found: [ScanStart.Key] = []
    for member in try JSONFile.read(keys).members() {
      found.append(
        .init(
          address: DeviceCandidate.address(member.name) ?? member.name,
          key: HexBytes(try member.value.octets(atMost: 64))))
    }
    return found
  }
}
