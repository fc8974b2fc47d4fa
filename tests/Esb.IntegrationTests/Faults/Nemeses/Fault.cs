namespace Esb.IntegrationTests.Faults.Nemeses;

/// <summary>Something bad that is done, lasts for a while, and is mended.</summary>
/// <param name="Name">What happens, in a few words.</param>
/// <param name="StrikeAsync">Does it.</param>
/// <param name="HealAsync">Mends it.</param>
/// <param name="Shortest">How long it lasts at least.</param>
/// <param name="Longest">How long it lasts at most.</param>
internal sealed record Fault(string Name, Func<Task> StrikeAsync, Func<Task> HealAsync, TimeSpan Shortest, TimeSpan Longest)
{
    /// <summary>Something that is over as soon as it happened.</summary>
    public static Fault Moment(string name, Func<Task> strike) => new(name, strike, () => Task.CompletedTask, TimeSpan.Zero, TimeSpan.Zero);

    /// <summary>Something that lasts until whoever did it has seen enough.</summary>
    public static Fault Until(string name, Func<Task> strike, Func<Task> heal) => new(name, strike, heal, TimeSpan.Zero, TimeSpan.Zero);

    public Fault Lasting(double shortestSeconds, double longestSeconds) =>
        this with
        {
            Shortest = TimeSpan.FromSeconds(shortestSeconds),
            Longest = TimeSpan.FromSeconds(longestSeconds),
        };
}
