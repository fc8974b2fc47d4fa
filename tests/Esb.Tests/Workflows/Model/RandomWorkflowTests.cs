using System.Text;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Tests.Workflows.Instances;
using FsCheck;
using FsCheck.Fluent;

namespace Esb.Tests.Workflows.Model;

/// <summary>Workflows of random shape do what a model in memory does, whatever commits the process ends at, and in whatever order messages
/// come.</summary>
public sealed class RandomWorkflowTests
{
    private const int ShapeSize = 50;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>A few shapes, each without an end of the process and with several.</summary>
    [Test, CancelAfter(300_000)]
    public Task Workflow_of_random_shape_does_what_the_model_does(CancellationToken cancellationToken) =>
        CheckAsync(shapes: 10, seed: 42, everyCommit: false, cancellationToken);

    /// <summary>Many shapes, each with an end at every commit, before it and after it.</summary>
    [Test, Category("Thorough"), CancelAfter(1_200_000)]
    public Task Workflow_of_random_shape_does_what_the_model_does_whatever_commit_the_process_ends_at(
        [Values(1UL, 2UL, 3UL)] ulong seed,
        CancellationToken cancellationToken
    ) => CheckAsync(shapes: 25, 1_000 * seed, everyCommit: true, cancellationToken);

    /// <summary>Both branches fail, one after the other: each undoes its own scopes.</summary>
    [Test, CancelAfter(60_000)]
    public async Task Branch_undoes_its_scopes_whatever_another_branch_has_undone(
        [Range(0, 3)] int shuffle,
        CancellationToken cancellationToken
    )
    {
        var number = 0;
        var shape = new Shape(
            [
                new ParallelNode(
                    HasEndless: false,
                    [
                        [Branch()],
                        [Branch()],
                    ]
                )
                {
                    Number = ++number,
                },
            ],
            shuffle,
            []
        );

        await using var run = new RandomRun(shape, []);
        var (difference, _) = await run.CompareAsync(Patience, cancellationToken);

        Assert.That(difference, Is.Null);

        GuardNode Branch() =>
            new(IsScope: false, [Scope(), new ReceiveNode(Comes: true) { Number = ++number }, Fail()], CatchesAll: true, [Publish()], null)
            {
                Number = ++number,
            };

        GuardNode Scope() => new(IsScope: true, [Publish()], CatchesAll: false, Catch: null, [Publish()]) { Number = ++number };

        PublishNode Publish() => new() { Number = ++number };

        FailNode Fail() => new() { Number = ++number };
    }

    private static async Task CheckAsync(int shapes, ulong seed, bool everyCommit, CancellationToken cancellationToken)
    {
        var failures = new StringBuilder();
        foreach (var (index, shape) in ShapeMaker.Shapes.Sample(shapes, new Rnd(seed), ShapeSize).Index())
        {
            var commits = await TryAsync([]);
            if (!everyCommit)
                await TryAsync([.. shape.Crashes.Select(crash => (1 + crash.Share * commits / 100, crash.IsStored))]);
            for (var commit = 1; everyCommit && commit <= commits; commit++)
            {
                await TryAsync([(commit, false)]);
                await TryAsync([(commit, true)]);
            }

            async Task<int> TryAsync(IReadOnlyList<(int Commit, bool IsStored)> ends)
            {
                await using var run = new RandomRun(shape, ends);
                var (difference, count) = await run.CompareAsync(Patience, cancellationToken);
                if (difference is not null)
                    failures.AppendLine(
                        $"seed {seed}, shape {index}, ends at [{string.Join(", ", ends)}]:\n{difference}\n{ShapeText.Of(shape)}\n"
                    );
                return count;
            }
        }

        Assert.That(failures.ToString(), Is.Empty);
    }
}

/// <summary>A workflow of random shape on the engine, through several lives of the process.</summary>
/// <param name="shape">The workflow.</param>
/// <param name="ends">The commit at which each life ends, counted in that life, and whether it is stored.</param>
internal sealed class RandomRun(Shape shape, IReadOnlyList<(int Commit, bool IsStored)> ends) : IAsyncDisposable
{
    private const string Caller = "caller";

    private readonly RememberedReplies _callers = new();
    private readonly string _body = ShapeText.Body(shape);
    private readonly HashSet<Guid> _answered = [];
    private readonly ShapeModel _model = ShapeModel.Of(shape);
    private WorkflowBench? _bench;
    private int _lives;
    private int _commits;

    private WorkflowBench Bench => _bench!;

    public async ValueTask DisposeAsync()
    {
        if (_bench is not null)
            await _bench.DisposeAsync();
    }

    /// <summary>Runs it to its end.</summary>
    /// <returns>How it differs from the model, null if it does not; and the number of its commits.</returns>
    public async Task<(string? Difference, int Commits)> CompareAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        _bench = new WorkflowBench(ShapeText.Of(shape)) { Callers = _callers };
        await BeginLifeAsync(cancellationToken);
        var messages = ShapeText.Coming(shape).Select(MessageOf).Prepend(MessageOf(ShapeText.Start)).ToArray();
        new Random(shape.Shuffle).Shuffle(messages);
        foreach (var message in messages)
        {
            await LivingAsync(() => DeliverAsync(message, cancellationToken), cancellationToken);
            await AnswerAsync(cancellationToken);
        }

        var difference = "";
        for (var started = TimeProvider.System.GetTimestamp(); TimeProvider.System.GetElapsedTime(started) < patience; )
        {
            await AnswerAsync(cancellationToken);
            if (Bench.Gate.IsDead)
                await BeginLifeAsync(cancellationToken);
            difference = "";
            await LivingAsync(() => Bench.Engine.MatchEarlyAsync(cancellationToken), cancellationToken); // as the bus does
            await LivingAsync(async () => difference = await DifferenceAsync(cancellationToken), cancellationToken);
            if (difference.Length == 0)
                break;
            await Task.Delay(10, cancellationToken);
        }

        return (difference.Length == 0 ? null : difference, _commits + Bench.Gate.Commits);
    }

    private EsbMessage MessageOf(string subject) => WorkflowBench.Message(subject, _body);

    // As a queue does: until it is settled, in whatever life.
    private async Task DeliverAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        var delivery = new TopicDelivery(message, default, Reply: null)
        {
            ReplyAddress = message.Subject == ShapeText.Start ? () => Caller : null,
        };
        await Bench.Engine.ReceiveAsync("main", delivery, cancellationToken);
    }

    private async Task AnswerAsync(CancellationToken cancellationToken)
    {
        var asking = ShapeText.Descend(shape.Steps).OfType<AskNode>().ToDictionary(ShapeText.SubjectOf);
        foreach (var request in Bench.Published.Where(message => asking.ContainsKey(message.Subject)).DistinctBy(message => message.Id))
        {
            var ask = asking[request.Subject];
            if (ask.Answer == Answer.None || !_answered.Add(request.Id))
                continue;
            var reply =
                ask.Answer == Answer.Reply
                    ? request.Reply(MessageBody.FromText(_body), TimeProvider.System) with
                    {
                        ContentType = "application/json",
                    }
                    : FaultReply.Of(request, new EsbException(ShapeText.CodeOf(ask), "refused", FaultKind.Invalid), TimeProvider.System);
            await LivingAsync(() => Bench.Engine.ReceiveReplyAsync(request.Id, reply, cancellationToken), cancellationToken);
        }
    }

    private async Task LivingAsync(Func<Task> work, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await work();
                return;
            }
            catch (EsbException) when (Bench.Gate.IsDead)
            {
                await BeginLifeAsync(cancellationToken);
            }
        }
    }

    private async Task BeginLifeAsync(CancellationToken cancellationToken)
    {
        if (_lives > 0)
        {
            _commits += Bench.Gate.Commits;
            await Bench.KillAsync();
        }

        await Bench.StartAsync(cancellationToken);
        if (_lives < ends.Count)
            (Bench.Gate.DiesAt, Bench.Gate.DiesAfter) = (ends[_lives].Commit, ends[_lives].IsStored);
        _lives++;
    }

    private async Task<string> DifferenceAsync(CancellationToken cancellationToken)
    {
        var instances = await Bench.InstancesAsync(cancellationToken);
        var mains = instances.Where(instance => instance.Workflow == "main").ToList();
        if (mains.Count != 1)
            return $"{mains.Count} instances";
        var (main, published) = (mains[0], Bench.Subjects.ToList());
        var differences = new List<string>();
        Compare("state", $"{main.State} {main.Code}".Trim(), $"{_model.State} {_model.Code}".Trim());
        if (ShapeText.Descend(shape.Steps).Any(node => node is ParallelNode))
            Compare("published", Text(published.Order(StringComparer.Ordinal)), Text(_model.Published.Order(StringComparer.Ordinal)));
        else
            Compare("published in order", Text(OfMain(published)), Text(OfMain(_model.Published)));
        Compare("children", $"{instances.Count - 1}", $"{_model.Children}");
        Compare(
            "ended children",
            $"{instances.Count(one => one.State == WorkflowState.Completed && one.Workflow == "child")}",
            $"{_model.Children}"
        );
        Compare("publications of children", $"{published.Count(subject => subject == "out.child")}", $"{_model.Children}");
        Compare("answers", Text(_callers.Sent.Select(sent => TextOf(sent.Reply)).Distinct()), Text(Answers()));
        foreach (var instance in instances)
        {
            var history = await Bench.Store.HistoryAsync(instance.Id, 0, 1_000, cancellationToken);
            Compare(
                "history",
                Text(history.Select(line => $"{line.Version}")),
                Text(Enumerable.Range(1, instance.Version).Select(i => $"{i}"))
            );
        }

        var living = await Bench.Store.LivingAsync(cancellationToken);
        Compare("living", Text(living.Select(count => $"{count.State} {count.Count}")), main.IsEnded ? "" : $"{_model.State} 1");
        return string.Join('\n', differences);

        void Compare(string what, string actual, string expected)
        {
            if (actual != expected)
                differences.Add($"{what}: {actual}; expected {expected}");
        }
    }

    private static IEnumerable<string> OfMain(IEnumerable<string> subjects) => subjects.Where(subject => subject != "out.child");

    // Where no step answers, the end of the instance does.
    private IEnumerable<string> Answers() =>
        _model.Answer is { } answer ? [answer]
        : _model.State == WorkflowState.Completed ? ["last"]
        : _model.State == WorkflowState.Terminated ? ["ESB-WFL-TERMINATED"]
        : [];

    private string TextOf(EsbMessage reply) =>
        FaultReply.Read(reply)?.Code
        ?? (reply.Body.ReadText() is var text && text.Contains("\"order\"", StringComparison.Ordinal) ? "last" : text);

    private static string Text(IEnumerable<string> items) => string.Join(", ", items);
}
