namespace Esb.Endpoints.Http.Outside;

/// <summary>The answer of an external system is not HTTP, or cannot be distinguished from an attack.</summary>
/// <param name="flaw">The fault of the answer, without its text.</param>
internal sealed class BadAnswerException(string flaw) : OutsideException(flaw);
