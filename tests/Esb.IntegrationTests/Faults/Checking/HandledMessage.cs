namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>A message and the revision that handled it.</summary>
/// <param name="Id">The sender's name for it.</param>
/// <param name="Mark">What that revision has put on it.</param>
/// <param name="From">Before this it was not handled.</param>
/// <param name="To">By this it was.</param>
internal sealed record HandledMessage(string Id, string Mark, DateTimeOffset From, DateTimeOffset To);
