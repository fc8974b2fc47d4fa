using System.Collections.Concurrent;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.Farm;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Topics;

public sealed class FarmQuestionsTests
{
    [Test, CancelAfter(30_000)]
    public async Task Command_of_the_type_of_a_question_reaches_its_subscribers_and_needs_no_answer(CancellationToken cancellationToken)
    {
        using var log = new LogLines();
        using var factory = LoggerFactory.Create(logging => logging.AddProvider(log));
        var self = FarmHost.OfThisProcess();
        var said = new ConcurrentQueue<string>();
        var heard = new TaskCompletionSource<Order>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var commands = new FarmCommands(factory.CreateLogger("farm"));
        var questions = new FarmQuestions(self, commands, SayAsync, () => [], () => true, TimeProvider.System);
        using var answering = questions.Answer<Order, Order>((order, _) => Task.FromResult(order with { Number = order.Number + 1 }));
        using var hearing = commands.Subscribe<Order>(
            (_, order, _) =>
            {
                if (order.Number > 0)
                    heard.TrySetResult(order);
                return Task.CompletedTask;
            }
        );

        commands.Add(Guid.NewGuid(), FarmCommands.KindOf<Order>(), FarmCommands.Write(new Order(Guid.NewGuid(), 7)));
        commands.Add(Guid.NewGuid(), FarmCommands.KindOf<Order>(), "{\"Id\":\"" + Guid.NewGuid() + "\",\"Question\":{\"Number\":8}}");
        await heard.Task.WaitAsync(cancellationToken);
        while (said.IsEmpty)
            await Task.Delay(10, cancellationToken);

        Assert.That(said, Has.One.Contains("\"Number\":9"));
        Assert.That(log.All, Is.Empty);

        Task SayAsync(string kind, string body, CancellationToken _)
        {
            said.Enqueue($"{kind} {body}");
            return Task.CompletedTask;
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task Host_that_joins_after_the_question_is_asked_again_and_each_host_answers_once(CancellationToken cancellationToken)
    {
        using var factory = LoggerFactory.Create(_ => { });
        FarmHost[] hosts = [new(Guid.NewGuid(), "asks"), new(Guid.NewGuid(), "runs"), new(Guid.NewGuid(), "joins")];
        var (joined, handled) = (1, new ConcurrentQueue<string>());
        var farm = new List<(FarmCommands Commands, FarmQuestions Questions)>();
        foreach (var host in hosts)
        {
            var commands = new FarmCommands(factory.CreateLogger("farm"));
            farm.Add(
                (
                    commands,
                    new FarmQuestions(
                        host,
                        commands,
                        (kind, body, _) => SayAsync(host, kind, body),
                        Others,
                        () => true,
                        TimeProvider.System
                    )
                )
            );
            farm[^1]
                .Questions.Answer<Order, Order>(
                    (order, _) =>
                    {
                        handled.Enqueue(host.Name);
                        joined = 2; // while the host that runs answers
                        return Task.FromResult(order with { Number = order.Number + 1 });
                    }
                );
        }

        var asking = farm[0].Questions.AskAsync<Order, Order>(new Order(Guid.NewGuid(), 7), TimeSpan.FromSeconds(15), cancellationToken);
        var answers = await asking;
        foreach (var (commands, _) in farm)
            await commands.DisposeAsync();

        Assert.That(answers.Silent, Is.Empty);
        Assert.That(answers.Answers.Select(answer => answer.Host.Name), Is.EquivalentTo(new[] { "runs", "joins" }));
        Assert.That(handled, Is.EquivalentTo(new[] { "runs", "joins" }), "the repeated question is handled once");

        IReadOnlyList<FarmHost> Others() => hosts[1..(joined + 1)];

        Task SayAsync(FarmHost from, string kind, string body)
        {
            for (var i = 0; i <= joined; i++)
            {
                if (kind == FarmQuestions.AnswerKind)
                    farm[i].Questions.Hear(from, body);
                else
                    farm[i].Commands.Add(from.Id, kind, body);
            }

            return Task.CompletedTask;
        }
    }

    private sealed record Order(Guid Id, int Number);
}
