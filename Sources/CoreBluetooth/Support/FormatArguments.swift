// On Apple's systems every object may be an argument of `String(format: "%@", …)` and `NSLog`; Foundation on Linux has that
// from Swift 6.4 on. Before that it takes only objects of its own: here the text of the description.
#if compiler(<6.4)
  /// An object that can be formatted with `%@`.
  public protocol CBFormatArgument: _CVarArgObject, CustomStringConvertible {}

  // swift-format-ignore: NoLeadingUnderscores
  extension CBFormatArgument {
    /// The text of the description; whoever formats it keeps it for as long as that takes.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }

    /// That of the text; it is asked for only where nobody keeps the text.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
  }

  extension CBManager: CBFormatArgument {}
  extension CBPeer: CBFormatArgument {}
  extension CBAttribute: CBFormatArgument {}
  extension CBUUID: CBFormatArgument {}
  extension CBATTRequest: CBFormatArgument {}
  extension CBL2CAPChannel: CBFormatArgument {}
#endif
