namespace Esb.Endpoints.Http.Outside;

/// <summary>The outside answered with something that is not HTTP, or that cannot be told from an attack.</summary>
/// <param name="flaw">What is wrong with it, without its text.</param>
internal sealed class BadAnswerException(string flaw) : OutsideException(flaw);
