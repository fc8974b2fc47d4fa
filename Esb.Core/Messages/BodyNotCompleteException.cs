namespace Esb.Core.Messages;

/// <summary>Somebody needs more of a body than its beginning (<see cref="MessageBody.FromBeginning"/>): nothing is wrong, and asking again with more of it will do.</summary>
public sealed class BodyNotCompleteException() : Exception("Only the beginning of the body is here.");
