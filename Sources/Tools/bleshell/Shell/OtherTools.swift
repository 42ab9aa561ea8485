/// Commands of bluetoothctl, gatttool and hcitool that are not ours, with their equivalents.
enum OtherTools {
  private static let commands = [
    "notify": "\"listen CHARACTERISTIC\" shows values as they come, \"subscribe\" until Ctrl-C",
    "menu": "all commands are in one list here: \"help\"",
    "select-attribute": "a command names its characteristic here: \"read 2A19\"",
    "list-attributes": "\"services\" lists the attributes", "primary": "\"services\" lists the attributes",
    "characteristics": "\"services\" lists the attributes", "char-desc": "\"services\" lists the attributes",
    "char-read-uuid": "\"read CHARACTERISTIC\" reads a value", "char-read-hnd": "\"read 0x0012\" reads a value",
    "char-write-req": "\"write 0x0012 VALUE\" writes a value",
    "char-write-cmd": "\"write 0x0012 VALUE --no-response\" writes a value", "lescan": "\"scan\" shows the devices",
    "trust": "nothing has to be trusted: docs/configuration.md, policy", "adv": "\"advertise\" advertises",
    "agent": "pairing asks here by itself; \"pairing answer\" answers for others",
    "register-service": "\"serve FILE\" publishes services",
  ]

  /// Our command for a command line of another tool; nil for none.
  static func remedy(for words: [String]) -> String? {
    guard let first = words.first else { return nil }
    if first == "scan" || first == "advertise", words.count == 2, ["on", "off"].contains(words[1]) {
      return "\(first) has no \"\(words[1])\" here: it runs until Ctrl-C"
    }
    return commands[first].map { "there is no command \(first): \($0)" }
  }
}
