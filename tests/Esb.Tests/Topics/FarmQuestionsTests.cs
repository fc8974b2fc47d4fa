using System.Collections.Concurrent;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Esb.Topics.Farm;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Topics;

public sealed class FarmQuestionsTests
{
    [Test, CancelAfter(20_000)]
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

    private sealed record Order(Guid Id, int Number);
}
