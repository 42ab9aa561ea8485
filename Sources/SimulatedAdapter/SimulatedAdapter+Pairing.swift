import Adapter
import Bluetooth

extension SimulatedAdapter {
  /// All bonds of this machine.
  public func setBonds(_ bonds: [Bond]) { pairing.bonds = bonds }

  /// How it pairs from now on.
  public func setPairing(_ settings: PairingSettings) { pairing.settings = settings }

  /// The adapter keeps its address: nobody but simulated devices hears it.
  public func setPrivacy(_ settings: PrivacySettings?) {}

  /// Answers the question that this device's pairing waits for.
  public func answer(_ question: QuestionID, _ answer: PairingAnswer) { pairing.answer(question, answer) }

  /// The devices of scenarios have no other way than the air.
  public func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    scheduler.schedule(after: .zero) {
      done(.failure(GAPError.notSupported.error("the simulated adapter does not pair out of band")))
    }
  }

  /// The same.
  public func setOutOfBand(_ data: OutOfBandData?, of address: DeviceAddress) {}

  /// Removes the keys that this machine and a device share, and ends its link.
  public func unpair(_ address: DeviceAddress) {
    let bond = pairing.bond(with: address)
    for link in links where link.peer == address || bond != nil && pairing.bond(with: link.peer) == bond {
      link.disconnect()
    }
    pairing.forget(address)
  }
}
