using Esb.Core.Messages;
using Esb.Core.Storage;
using Esb.Core.Topics;

namespace Esb.IntegrationTests.Topics.Contracts;

/// <summary>What every transport must do with a message that is given up.</summary>
public abstract class TransportDeadLetterContract(ITransportUnderTest underTest) : TopicTransportFixture(underTest)
{
    [Test, CancelAfter(60_000)]
    public async Task A_diverted_message_becomes_a_dead_letter_with_all_that_is_known(CancellationToken cancellationToken)
    {
        var at = new DateTimeOffset(2026, 3, 4, 5, 6, 7, 89, TimeSpan.Zero);
        var inbox = new Inbox(delivery => new Settlement.Divert(
            new DeadLetter(
                delivery.Message,
                "the-endpoint",
                "ESB-TEST",
                "It does not work: ä.",
                "System.Exception",
                3,
                at,
                at.AddSeconds(9)
            )
        ));
        await SubscribeAsync(inbox, "orders.#");
        var letters = await ReadDeadLettersAsync();
        var message = Message("orders.accepted", [1, 2, 255]) with { Key = "k", Headers = MessageHeaders.Empty.With("x-a", "1") };

        await Transport.PublishAsync(message, cancellationToken);
        var letter = await letters.Reader.ReadAsync(cancellationToken);

        Assert.Multiple(() =>
        {
            Assert.That(
                (
                    letter.Endpoint,
                    letter.Code,
                    letter.Reason,
                    letter.ExceptionType,
                    letter.Attempts,
                    letter.FirstAttempt,
                    letter.LastAttempt
                ),
                Is.EqualTo(("the-endpoint", "ESB-TEST", "It does not work: ä.", "System.Exception", 3, at, at.AddSeconds(9)))
            );
            Assert.That(
                (letter.Message.Id, letter.Message.Subject, letter.Message.Key, letter.Message.Headers["x-a"]),
                Is.EqualTo((message.Id, "orders.accepted", "k", "1"))
            );
            Assert.That(letter.Message.Body.Bytes.ToArray(), Is.EqualTo(new byte[] { 1, 2, 255 }));
        });
    }

    [Test, CancelAfter(60_000)]
    public async Task History_of_the_attempts_travels_with_the_message_and_ends_in_the_dead_letter(CancellationToken cancellationToken)
    {
        var at = new DateTimeOffset(2026, 3, 4, 5, 6, 7, 89, TimeSpan.Zero);
        FailedAttempt Failure(int number) => new(at.AddSeconds(number), $"ESB-{number}", "It does not work: ä\0\u0001.");
        var inbox = new Inbox(delivery =>
            delivery.Message.Attempt < 2
                ? new Settlement.Later(Rung, delivery.Message.Attempt + 1)
                {
                    Failures = [.. delivery.Failures, Failure(delivery.Message.Attempt)],
                }
                : new Settlement.Divert(
                    Letter(delivery.Message) with
                    {
                        Reason = "The last one, whole.",
                        Failures = [.. delivery.Failures, Failure(2) with { Reason = "The last one, whole." }],
                    }
                )
        );
        await SubscribeAsync(inbox, "orders.#");
        var letters = await ReadDeadLettersAsync();

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        var deliveries = await inbox.NextAsync(3, cancellationToken);
        var letter = await letters.Reader.ReadAsync(cancellationToken);

        Assert.That(
            deliveries.Select(delivery => delivery.Failures),
            Is.EqualTo(new FailedAttempt[][] { [], [Failure(0)], [Failure(0), Failure(1)] })
        );
        Assert.That(letter.Failures, Is.EqualTo(new[] { Failure(0), Failure(1), Failure(2) with { Reason = "The last one, whole." } }));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_dead_letter_that_is_not_taken_comes_again(CancellationToken cancellationToken)
    {
        await SubscribeAsync(new Inbox(delivery => new Settlement.Divert(Letter(delivery.Message))), "orders.#");
        var tries = 0;
        var taken = new TaskCompletionSource<DeadLetter>();
        await using var reading = await Transport.ReadDeadLettersAsync(
            (letter, _) =>
            {
                if (++tries < 2)
                    throw new IOException("The store is away.");
                taken.TrySetResult(letter);
                return ValueTask.CompletedTask;
            },
            cancellationToken
        );
        var message = Message("orders.accepted");

        await Transport.PublishAsync(message, cancellationToken);

        Assert.That((await taken.Task.WaitAsync(cancellationToken)).Message.Id, Is.EqualTo(message.Id));
    }

    [Test, CancelAfter(60_000)]
    public async Task A_reader_whose_store_fails_while_it_stops_ends_all_the_same(CancellationToken cancellationToken)
    {
        await SubscribeAsync(new Inbox(delivery => new Settlement.Divert(Letter(delivery.Message))), "orders.#");
        var taking = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var reading = await Transport.ReadDeadLettersAsync(
            async (_, stopping) =>
            {
                taking.TrySetResult();
                await Task.Delay(Timeout.Infinite, stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                throw new IOException("The store is away.");
            },
            cancellationToken
        );

        await Transport.PublishAsync(Message("orders.accepted"), cancellationToken);
        await taking.Task.WaitAsync(cancellationToken);
        var ending = reading.DisposeAsync().AsTask();
        await ending.WaitAsync(cancellationToken);

        Assert.That(ending.IsCompletedSuccessfully, Is.True);
    }
}
