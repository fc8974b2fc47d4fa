namespace Esb.Core.Topics;

/// <summary>The hosts that run a configuration of one name over one broker, and what they tell each other. Thread-safe.</summary>
/// <remarks>Pattern: Control Bus of Enterprise Integration Patterns. In memory a farm has one host.</remarks>
public interface IFarm
{
    /// <summary>This host, from the start of its process to the end.</summary>
    FarmHost Self { get; }

    /// <summary>The hosts that live, this one among them, in the order of their ids. One that dies is missed after 7 s, one that stops at once.</summary>
    IReadOnlyList<FarmHost> Hosts { get; }

    /// <summary>Tells something to every host that lives, this one among them. It is not kept for hosts that come later.</summary>
    /// <param name="command">Goes as JSON; its type's name says what it is.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-FARM-UNAVAILABLE</c>: nobody may have heard it.</exception>
    Task BroadcastAsync<TCommand>(TCommand command, CancellationToken cancellationToken)
        where TCommand : class;

    /// <summary>Hears commands of one type, one after the other, until the result is disposed. A handler that throws is logged.</summary>
    IDisposable Subscribe<TCommand>(FarmCommandHandler<TCommand> handler)
        where TCommand : class;

    /// <summary>Asks every other host that lives, and gathers what they answer. Returns once all have answered that live, or when patience is at its end.</summary>
    /// <remarks>Pattern: Scatter-Gather of Enterprise Integration Patterns.</remarks>
    /// <param name="question">Goes as JSON; its type's name says what it is.</param>
    /// <param name="patience">How long those who do not answer are waited for.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-FARM-UNAVAILABLE</c>: nobody may have heard it.</exception>
    Task<FarmAnswers<TAnswer>> AskOthersAsync<TQuestion, TAnswer>(TQuestion question, TimeSpan patience, CancellationToken cancellationToken)
        where TQuestion : class
        where TAnswer : class;

    /// <summary>Answers questions of one type, one after the other, until the result is disposed. A handler that throws is logged, and gives no answer.</summary>
    IDisposable Answer<TQuestion, TAnswer>(FarmQuestionHandler<TQuestion, TAnswer> handler)
        where TQuestion : class
        where TAnswer : class;
}

/// <summary>Does what a host of the farm says.</summary>
public delegate Task FarmCommandHandler<in TCommand>(Guid from, TCommand command, CancellationToken cancellationToken)
    where TCommand : class;

/// <summary>Answers what a host of the farm asks.</summary>
public delegate Task<TAnswer> FarmQuestionHandler<in TQuestion, TAnswer>(TQuestion question, CancellationToken cancellationToken)
    where TQuestion : class
    where TAnswer : class;

/// <summary>A host.</summary>
/// <param name="Id">Its own for each start.</param>
/// <param name="Name">For people: its machine and process.</param>
public sealed record FarmHost(Guid Id, string Name)
{
    /// <summary>This process.</summary>
    public static FarmHost OfThisProcess() => new(Guid.NewGuid(), $"{Environment.MachineName}:{Environment.ProcessId}");
}
