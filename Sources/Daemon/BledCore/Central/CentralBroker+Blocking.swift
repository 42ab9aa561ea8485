import BledRPC
import Bluetooth

extension CentralBroker {
  /// Blocks a device for all sessions, or unblocks it.
  func block(_ params: AdapterBlock.Params) throws {
    let peripheral = try directory.find(params.peripheral)
    guard params.on ?? true else { return links.blocked.remove(peripheral) }
    try links.blocked.add(peripheral)
    // The device keeps its identifier, by which it is unblocked.
    directory.store(peripheral)
    guard let error = links.blocked.refusal(of: peripheral) else { return }
    for connection in inOrder where links.blocked.contains(connection.peripheral) { connection.refuse(error) }
    for hub in links.links where links.blocked.contains(hub.peripheral) { hub.disconnect() }
  }
}
