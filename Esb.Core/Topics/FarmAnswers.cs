namespace Esb.Core.Topics;

/// <summary>Answers of the hosts of a farm to a question.</summary>
/// <param name="Answers">One answer of each host that answered.</param>
/// <param name="Silent">Hosts that are live, as far as known, and did not answer in time.</param>
public sealed record FarmAnswers<TAnswer>(IReadOnlyList<FarmAnswer<TAnswer>> Answers, IReadOnlyList<FarmHost> Silent)
    where TAnswer : class
{
    /// <summary>The answers if no host was there to ask.</summary>
    public static FarmAnswers<TAnswer> Nobody { get; } = new([], []);
}

/// <summary>An answer.</summary>
/// <param name="Host">The host that answered.</param>
/// <param name="Answer">The answer.</param>
public sealed record FarmAnswer<TAnswer>(FarmHost Host, TAnswer Answer)
    where TAnswer : class;
