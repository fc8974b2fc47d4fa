namespace Esb.Core.Messages;

/// <summary>More of a body is needed than its beginning (<see cref="MessageBody.FromBeginning"/>). This is not an error: retry with more of
/// the body.</summary>
public sealed class BodyNotCompleteException() : Exception("Only the beginning of the body is here.");
