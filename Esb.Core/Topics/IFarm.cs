namespace Esb.Core.Topics;

/// <summary>The hosts that run a configuration of one name over one broker, and their communication. Thread-safe.</summary>
/// <remarks>Pattern: Control Bus of Enterprise Integration Patterns. In memory a farm has one host.</remarks>
public interface IFarm
{
    /// <summary>This host, for the life of its process.</summary>
    FarmHost Self { get; }

    /// <summary>Live hosts, including this one, in the order of their ids. A host that dies is removed after 7 s, a host that stops at
    /// once.</summary>
    IReadOnlyList<FarmHost> Hosts { get; }

    /// <summary>Sends a command to every live host, including this one. It is not kept for hosts that start later.</summary>
    /// <param name="command">The command, sent as JSON; the name of its type identifies it.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-FARM-UNAVAILABLE</c>: the command may have reached no host.</exception>
    Task BroadcastAsync<TCommand>(TCommand command, CancellationToken cancellationToken)
        where TCommand : class;

    /// <summary>Receives commands of one type, one after the other, until the result is disposed. A handler that throws is
    /// logged.</summary>
    IDisposable Subscribe<TCommand>(FarmCommandHandler<TCommand> handler)
        where TCommand : class;

    /// <summary>Asks every other live host, and collects the answers. Returns once all live hosts have answered, or when the patience is
    /// exhausted.</summary>
    /// <remarks>Pattern: Scatter-Gather of Enterprise Integration Patterns.</remarks>
    /// <param name="question">The question, sent as JSON; the name of its type identifies it.</param>
    /// <param name="patience">Time to wait for hosts that do not answer.</param>
    /// <param name="cancellationToken">Cancels waiting.</param>
    /// <exception cref="Errors.EsbException"><c>ESB-FARM-UNAVAILABLE</c>: the question may have reached no host.</exception>
    Task<FarmAnswers<TAnswer>> AskOthersAsync<TQuestion, TAnswer>(
        TQuestion question,
        TimeSpan patience,
        CancellationToken cancellationToken
    )
        where TQuestion : class
        where TAnswer : class;

    /// <summary>Answers questions of one type, one after the other, until the result is disposed. A handler that throws is logged, and
    /// gives no answer.</summary>
    IDisposable Answer<TQuestion, TAnswer>(FarmQuestionHandler<TQuestion, TAnswer> handler)
        where TQuestion : class
        where TAnswer : class;
}

/// <summary>Handles a command from a host of the farm.</summary>
public delegate Task FarmCommandHandler<in TCommand>(Guid from, TCommand command, CancellationToken cancellationToken)
    where TCommand : class;

/// <summary>Answers a question from a host of the farm.</summary>
public delegate Task<TAnswer> FarmQuestionHandler<in TQuestion, TAnswer>(TQuestion question, CancellationToken cancellationToken)
    where TQuestion : class
    where TAnswer : class;

/// <summary>A host.</summary>
/// <param name="Id">Unique for each start of the host.</param>
/// <param name="Name">Display name: its machine and process.</param>
public sealed record FarmHost(Guid Id, string Name)
{
    /// <summary>This process.</summary>
    public static FarmHost OfThisProcess() => new(Guid.NewGuid(), $"{Environment.MachineName}:{Environment.ProcessId}");
}
