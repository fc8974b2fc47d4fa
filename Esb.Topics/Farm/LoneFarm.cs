using Esb.Core.Topics;
using Microsoft.Extensions.Logging;

namespace Esb.Topics.Farm;

/// <summary>The farm of a host that shares nothing with other hosts.</summary>
internal sealed class LoneFarm(ILogger<LoneFarm> logger) : IFarm, IAsyncDisposable
{
    private readonly FarmCommands _commands = new(logger);

    public FarmHost Self { get; } = FarmHost.OfThisProcess();

    public IReadOnlyList<FarmHost> Hosts => [Self];

    public Task BroadcastAsync<TCommand>(TCommand command, CancellationToken cancellationToken)
        where TCommand : class
    {
        _commands.Add(Self.Id, FarmCommands.KindOf<TCommand>(), FarmCommands.Write(command));
        return Task.CompletedTask;
    }

    public IDisposable Subscribe<TCommand>(FarmCommandHandler<TCommand> handler)
        where TCommand : class => _commands.Subscribe(handler);

    public Task<FarmAnswers<TAnswer>> AskOthersAsync<TQuestion, TAnswer>(
        TQuestion question,
        TimeSpan patience,
        CancellationToken cancellationToken
    )
        where TQuestion : class
        where TAnswer : class => Task.FromResult(FarmAnswers<TAnswer>.Nobody);

    public IDisposable Answer<TQuestion, TAnswer>(FarmQuestionHandler<TQuestion, TAnswer> handler)
        where TQuestion : class
        where TAnswer : class => Unasked.Instance;

    public ValueTask DisposeAsync() => _commands.DisposeAsync();

    private sealed class Unasked : IDisposable
    {
        public static readonly Unasked Instance = new();

        public void Dispose()
        {
            // No other host asks questions.
        }
    }
}
