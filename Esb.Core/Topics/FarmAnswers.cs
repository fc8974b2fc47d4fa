namespace Esb.Core.Topics;

/// <summary>What the hosts of a farm answered to a question.</summary>
/// <param name="Answers">One of each host that answered.</param>
/// <param name="Silent">Hosts that live, as far as is known, and did not answer in time.</param>
public sealed record FarmAnswers<TAnswer>(IReadOnlyList<FarmAnswer<TAnswer>> Answers, IReadOnlyList<FarmHost> Silent)
    where TAnswer : class
{
    /// <summary>Nobody was there to be asked.</summary>
    public static FarmAnswers<TAnswer> Nobody { get; } = new([], []);
}

/// <summary>An answer.</summary>
/// <param name="Host">Whose it is.</param>
/// <param name="Answer">What it says.</param>
public sealed record FarmAnswer<TAnswer>(FarmHost Host, TAnswer Answer)
    where TAnswer : class;
