using System.Collections.Concurrent;
using System.Text.Json;
using Esb.Core.Errors;
using Esb.Core.Topics;

namespace Esb.Topics.Farm;

/// <summary>Sends a message to every host of a farm.</summary>
internal delegate Task FarmVoice(string kind, string body, CancellationToken cancellationToken);

/// <summary>Asks the other hosts questions, collects their answers, and answers theirs. Thread-safe.</summary>
/// <param name="self">This host, whose own questions it does not answer.</param>
/// <param name="commands">Questions queue with the commands. Answers do not: the host that waits for them may be handling a
/// command.</param>
/// <param name="say">Sends a message to every host.</param>
/// <param name="others">The live hosts, without this one.</param>
/// <param name="knowsAll">True if all live hosts are known. False shortly after this host has joined, when some have not been heard
/// yet.</param>
/// <param name="time">The clock for the time-out.</param>
internal sealed class FarmQuestions(
    FarmHost self,
    FarmCommands commands,
    FarmVoice say,
    Func<IReadOnlyList<FarmHost>> others,
    Func<bool> knowsAll,
    TimeProvider time
)
{
    /// <summary>The kind of answer messages between hosts.</summary>
    public const string AnswerKind = "answer";

    // The interval at which hosts that died meanwhile are dropped from the wait.
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(500);

    private static readonly TimeSpan RepeatInterval = TimeSpan.FromSeconds(1);

    private const int MostRemembered = 256; // questions of other hosts, each answered once

    private readonly ConcurrentDictionary<Guid, Gathering> _open = new();
    private readonly Queue<Guid> _asked = new();

    public async Task<FarmAnswers<TAnswer>> AskAsync<TQuestion, TAnswer>(
        TQuestion question,
        TimeSpan patience,
        CancellationToken cancellationToken
    )
        where TQuestion : class
        where TAnswer : class
    {
        var id = Guid.NewGuid();
        using var gathering = _open[id] = new Gathering();
        try
        {
            var began = time.GetTimestamp();
            var (lastAsked, told) = (began, others().Select(host => host.Id).ToHashSet());
            await AskAllAsync(id, question, cancellationToken);
            while ((!knowsAll() || gathering.Missing(others).Count > 0) && time.GetElapsedTime(began) < patience)
            {
                await gathering.News.WaitAsync(LookInterval, cancellationToken);
                if (time.GetElapsedTime(lastAsked) < RepeatInterval || gathering.Missing(others).All(host => told.Contains(host.Id)))
                    continue;
                lastAsked = time.GetTimestamp();
                await RepeatAsync(id, question, cancellationToken);
            }

            if (!knowsAll())
                throw new EsbException(
                    "ESB-FARM-UNAVAILABLE",
                    "Which other hosts there are is not known yet. Ask again.",
                    FaultKind.Unavailable
                );
            return gathering.Conclude<TAnswer>(others);
        }
        finally
        {
            _open.TryRemove(id, out _);
        }
    }

    public IDisposable Answer<TQuestion, TAnswer>(FarmQuestionHandler<TQuestion, TAnswer> handler)
        where TQuestion : class
        where TAnswer : class =>
        commands.Subscribe<Asked<TQuestion>>(
            FarmCommands.KindOf<TQuestion>(),
            async (from, asked, stopping) =>
            {
                if (from == self.Id || asked.Question is null || !IsNew(asked.Id))
                    return; // or a command of the same type, which needs no answer
                var answer = await handler(asked.Question, stopping);
                await say(AnswerKind, FarmCommands.Write(new Answered(asked.Id, JsonSerializer.SerializeToElement(answer))), stopping);
            }
        );

    /// <summary>Receives an answer, which may belong to another host's question.</summary>
    public void Hear(FarmHost from, string body)
    {
        if (JsonSerializer.Deserialize<Answered>(body) is { } answered && _open.TryGetValue(answered.To, out var gathering))
            gathering.Add(from, answered.Answer);
    }

    private Task AskAllAsync<TQuestion>(Guid id, TQuestion question, CancellationToken cancellationToken)
        where TQuestion : class =>
        say(FarmCommands.KindOf<TQuestion>(), FarmCommands.Write(new Asked<TQuestion>(id, question)), cancellationToken);

    // For a host that has joined since, and may not have heard the question.
    private async Task RepeatAsync<TQuestion>(Guid id, TQuestion question, CancellationToken cancellationToken)
        where TQuestion : class
    {
        try
        {
            await AskAllAsync(id, question, cancellationToken);
        }
        catch (EsbException)
        {
            return; // repeated again; the answers that came count
        }
    }

    private bool IsNew(Guid question)
    {
        lock (_asked)
        {
            if (_asked.Contains(question))
                return false;
            _asked.Enqueue(question);
            if (_asked.Count > MostRemembered)
                _asked.Dequeue();
            return true;
        }
    }

    private sealed record Asked<TQuestion>(Guid Id, TQuestion? Question)
        where TQuestion : class;

    private sealed record Answered(Guid To, JsonElement Answer);

    private sealed class Gathering : IDisposable
    {
        private readonly ConcurrentDictionary<Guid, (FarmHost Host, JsonElement Answer)> _heard = new();

        public SemaphoreSlim News { get; } = new(0);

        public void Add(FarmHost from, JsonElement answer)
        {
            if (_heard.TryAdd(from.Id, (from, answer)))
                News.Release();
        }

        /// <summary>The hosts that have not answered: as they are after the answers were looked at, so that none is overlooked that joined
        /// before the last answer.</summary>
        public IReadOnlyList<FarmHost> Missing(Func<IReadOnlyList<FarmHost>> hosts)
        {
            var heard = _heard.Keys.ToHashSet();
            return [.. hosts().Where(host => !heard.Contains(host.Id))];
        }

        public FarmAnswers<TAnswer> Conclude<TAnswer>(Func<IReadOnlyList<FarmHost>> hosts)
            where TAnswer : class =>
            new(
                [.. _heard.Values.Select(heard => new FarmAnswer<TAnswer>(heard.Host, heard.Answer.Deserialize<TAnswer>()!))],
                Missing(hosts)
            );

        public void Dispose() => News.Dispose();
    }
}
