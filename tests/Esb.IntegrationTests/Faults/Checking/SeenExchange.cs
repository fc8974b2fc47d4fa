namespace Esb.IntegrationTests.Faults.Checking;

/// <summary>An exchange of the configuration of a farm, as its operator saw it.</summary>
/// <param name="Mark">What messages show that the new revision handled.</param>
/// <param name="From">When it was asked for.</param>
/// <param name="To">When the answer came.</param>
/// <param name="IsDone">Whether the answer was that it is in service; otherwise it was refused.</param>
internal sealed record SeenExchange(string Mark, DateTimeOffset From, DateTimeOffset To, bool IsDone)
{
    /// <summary>Whether a call before the last one was left without an answer, so that a refusal does not tell what runs.</summary>
    public bool IsUncertain { get; init; }
}
