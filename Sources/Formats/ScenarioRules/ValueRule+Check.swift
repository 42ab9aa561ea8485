import JSONFiles

extension FileMembers {
  /// Checks that the changes of a characteristic's value agree with its properties.
  /// - Parameters:
  ///   - rule: The member `name`.
  ///   - isWritable: True if the value can be written.
  ///   - isSubscribable: True if the value can be notified or indicated.
  /// - Throws: the contradiction and its place.
  package func check(
    _ rule: ValueRule?, _ name: Name, notifyEvery: Name, isWritable: Bool, isSubscribable: Bool
  ) throws(FileError) {
    guard self[notifyEvery] == nil || isSubscribable else {
      throw failure(notifyEvery, "this cannot be subscribed to: add \"notify\" or \"indicate\" to the properties")
    }
    guard let rule else { return }
    switch rule {
    case .number(let number):
      guard !isWritable else {
        throw failure(name, "a value that changes by itself cannot be written: remove \"write\" from the properties")
      }
      guard number.offset + number.format.size <= ValueDescription.longest else {
        throw failure(name, "the number ends after octet \(ValueDescription.longest): give a smaller \"at\"")
      }
    case .recording(let recording):
      guard recording.read.isEmpty || !isWritable else {
        throw failure(name, "a value that can be written is read as it was written: remove \"read\" from the rule")
      }
      guard recording.sent.isEmpty || isSubscribable else {
        throw failure(
          name, "the values of \"sent\" have no subscribers: add \"notify\" or \"indicate\" to the properties")
      }
      guard recording.sent.isEmpty || self[notifyEvery] == nil else {
        throw failure(notifyEvery, "the rule has the times of the values: remove \"notifyEvery\"")
      }
    case .echo: break
    }
  }
}
