using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Text;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Core.Topics;
using Esb.Tests.Fakes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Topics;

public sealed class TopicPublisherTests : TopicsFixture
{
    private const string Plain = """{ "topics": { "orders": {} } }""";

    private static readonly Subject Accepted = new("orders.accepted");

    [Test, CancelAfter(30_000)]
    public async Task Publishing_gives_the_message_its_subject_and_records_it(CancellationToken cancellationToken)
    {
        var context = Some.Context();
        context.Process = "receive";

        await Publisher(Plain).PublishAsync(context, Accepted, "receive[0]", cancellationToken);

        var published = Transport.Published.Single();
        var fact = Audit.Facts.Single();
        Assert.That((published.Id, published.Subject, published.Attempt), Is.EqualTo((context.Received.Id, "orders.accepted", 0)));
        Assert.That(
            (fact.Kind, fact.MessageId, fact.Subject, fact.Endpoint, fact.Process, fact.Step),
            Is.EqualTo((AuditKind.Published, published.Id, "orders.accepted", "an-endpoint", "receive", "receive[0]"))
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Each_publish_of_a_process_has_an_id_of_its_own_that_a_repetition_finds_again(CancellationToken cancellationToken)
    {
        var message = Some.Message();
        var publisher = Publisher(Plain);

        for (var repetition = 0; repetition < 2; repetition++)
        {
            var context = Some.Context(message);
            await publisher.PublishAsync(context, Accepted, "a", cancellationToken);
            await publisher.PublishAsync(context, Accepted, "b", cancellationToken);
        }

        var ids = Transport.Published.Select(published => published.Id).ToList();
        Assert.That(ids.Take(2), Is.EqualTo(ids.Skip(2)).And.Unique);
        Assert.That(ids[0], Is.EqualTo(message.Id));
        Assert.That(Audit.Facts.Take(2).Select(fact => fact.CausedBy), Is.EqualTo(new Guid?[] { null, message.Id }), "what it was made of");
    }

    [Test, CancelAfter(30_000), Property("Case", "XPT-11")]
    public async Task Hops_of_what_came_in_go_on_with_all_that_is_made_of_it(CancellationToken cancellationToken)
    {
        var publisher = Publisher(Plain);
        var context = Some.Context(MessageHops.Set(Some.Message(), hops: 5));

        var copy = await publisher.CopyAsync(context, Accepted, "tap", cancellationToken);
        context.Message = Some.Message("the answer of a call, which knows of no hops");
        await publisher.PublishAsync(context, Accepted, "publish", cancellationToken);

        Assert.That(Transport.Published.Append(copy.Message).Select(MessageHops.Of), Is.EqualTo(new[] { 5, 5 }));
    }

    [Test, CancelAfter(30_000)]
    public void A_content_type_or_key_that_the_broker_would_not_take_is_refused(CancellationToken cancellationToken)
    {
        var types = Some.Message() with { ContentType = new string('t', 256) };
        var keyed = Some.Message() with { Key = new string('k', HeaderRules.MaxTotalBytes + 1) };

        foreach (var message in new[] { types, keyed })
        {
            Assert.That(
                async () => await Publisher(Plain).PublishAsync(Some.Context(message), Accepted, "a", cancellationToken),
                Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-HDR-LIMIT")
            );
        }
    }

    [TestCase("""{ "header": "x-customer" }""", "c-7")]
    [TestCase("""{ "xpath": "string(/order/@id)" }""", "4711")]
    [TestCase("""{ "header": "x-none" }""", null)]
    [CancelAfter(30_000)]
    public async Task The_key_is_what_the_topic_makes_of_the_message(string key, string? expected, CancellationToken cancellationToken)
    {
        var message = Some.Message("<order id='4711'/>") with { Headers = MessageHeaders.Empty.With("x-customer", "c-7") };

        await Publisher($$"""{ "topics": { "orders": { "key": {{key}} } } }""")
            .PublishAsync(Some.Context(message), Accepted, "a", cancellationToken);

        Assert.That(Transport.Published.Single().Key, Is.EqualTo(expected));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_body_that_streams_is_buffered_once(CancellationToken cancellationToken)
    {
        var message = Some.Message() with { Body = MessageBody.FromStream(new MemoryStream(Encoding.UTF8.GetBytes("streamed"))) };

        await Publisher(Plain).PublishAsync(Some.Context(message), Accepted, "a", cancellationToken);

        Assert.That(Transport.Published.Single().Body.ReadText(), Is.EqualTo("streamed"));
    }

    [Test, CancelAfter(5_000)]
    [Property("Case", "HDR-08")]
    public void Headers_that_would_not_fit_a_frame_are_refused_before_the_broker_sees_them(CancellationToken cancellationToken)
    {
        var message = Some.Message() with { Headers = MessageHeaders.Empty.With("x-big", new string('x', HeaderRules.MaxTotalBytes)) };

        var failure = Assert.ThrowsAsync<EsbException>(async () =>
            await Publisher(Plain).PublishAsync(Some.Context(message), Accepted, "a", cancellationToken)
        );

        Assert.That((failure!.Code, failure.Kind, Transport.Published.Count), Is.EqualTo(("ESB-HDR-LIMIT", FaultKind.TooLarge, 0)));
    }

    [Test, CancelAfter(30_000)]
    [Property("Case", "HDR-11")]
    public void A_correlation_id_without_end_is_refused(CancellationToken cancellationToken)
    {
        var message = Some.Message() with { CorrelationId = new string('c', 1 << 20) };

        var failure = Assert.ThrowsAsync<EsbException>(async () =>
            await Publisher(Plain).PublishAsync(Some.Context(message), Accepted, "a", cancellationToken)
        );

        Assert.That((failure!.Code, failure.Kind, Transport.Published.Count), Is.EqualTo(("ESB-HDR-CORRELATION", FaultKind.Malformed, 0)));
    }

    [TestCase(PublishOutcome.Unknown)]
    [TestCase(PublishOutcome.Refused)]
    [CancelAfter(30_000)]
    public async Task What_is_not_confirmed_is_published_again_with_the_same_id(PublishOutcome outcome, CancellationToken cancellationToken)
    {
        for (var i = 0; i < 2; i++)
            Transport.Outcomes.Enqueue(new PublishResult(outcome, "why", Task.CompletedTask));

        var publishing = Publisher(Plain).PublishAsync(Some.Context(), Accepted, "a", cancellationToken).AsTask();
        await PassAsync(publishing, cancellationToken);
        await publishing;

        Assert.That(Transport.Published.Select(message => message.Id).ToHashSet(), Has.Count.EqualTo(1));
        Assert.That(Transport.Published, Has.Count.EqualTo(3));
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Published }));
    }

    [TestCase(
        PublishOutcome.Unknown,
        "ESB-TOPIC-UNKNOWN",
        "Nobody can tell whether orders.accepted took the message (why); send it again."
    )]
    [TestCase(PublishOutcome.Refused, "ESB-TOPIC-UNAVAILABLE", "orders.accepted takes no message right now: why.")]
    [CancelAfter(30_000)]
    public async Task After_some_repetitions_the_caller_is_told(
        PublishOutcome outcome,
        string code,
        string sentence,
        CancellationToken cancellationToken
    )
    {
        for (var i = 0; i < 10; i++)
            Transport.Outcomes.Enqueue(new PublishResult(outcome, "why", Task.CompletedTask));

        var publishing = Publisher(Plain).PublishAsync(Some.Context(), Accepted, "a", cancellationToken).AsTask();
        await PassAsync(publishing, cancellationToken);

        var failure = Assert.ThrowsAsync<EsbException>(() => publishing);
        Assert.That((failure!.Code, failure.Kind, failure.Message), Is.EqualTo((code, FaultKind.Unavailable, sentence)));
        Assert.That(failure.RetryAfter, Is.GreaterThan(TimeSpan.Zero));
        Assert.That((Transport.Published.Count, Audit.Facts.Count), Is.EqualTo((5, 0)));
    }

    [Test, CancelAfter(5_000)]
    public void A_broker_that_is_away_is_reported_at_once(CancellationToken cancellationToken)
    {
        Transport.Status = new TransportStatus(IsReady: false, "broker away");
        Transport.Outcomes.Enqueue(PublishResult.Refused("broker away"));

        var failure = Assert.ThrowsAsync<EsbException>(async () =>
            await Publisher(Plain).PublishAsync(Some.Context(), Accepted, "a", cancellationToken)
        );

        Assert.That((failure!.Code, Transport.Published.Count), Is.EqualTo(("ESB-TOPIC-UNAVAILABLE", 1)));
    }

    [Test, CancelAfter(30_000)]
    public async Task The_context_learns_when_the_message_is_settled(CancellationToken cancellationToken)
    {
        var settled = new TaskCompletionSource();
        Transport.Outcomes.Enqueue(new PublishResult(PublishOutcome.Confirmed, null, settled.Task));
        var context = Some.Context();

        await Publisher(Plain).PublishAsync(context, Accepted, "a", cancellationToken);
        var wasSettledBefore = context.Settled.IsCompleted;
        settled.SetResult();

        Assert.That((wasSettledBefore, context.Settled.IsCompleted), Is.EqualTo((false, true)));
    }

    [Test, CancelAfter(30_000)]
    public void What_was_confirmed_but_not_recorded_fails(CancellationToken cancellationToken)
    {
        Audit.Failure = new EsbException("ESB-AUD-WRITE", "No.", FaultKind.Unavailable);

        Assert.That(
            async () => await Publisher(Plain).PublishAsync(Some.Context(), Accepted, "a", cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-AUD-UNRECORDED")
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task A_reply_becomes_the_message_and_its_status_a_property(CancellationToken cancellationToken)
    {
        Transport.Answer = request =>
            request.Reply(MessageBody.FromText("42"), TimeProvider.System) with
            {
                Headers = MessageHeaders.Empty.With(EsbHeaders.Status, "201").With("x-a", "1"),
            };
        var context = Some.Context(Some.Message() with { CorrelationId = "caller-7" });

        await Publisher(Plain).RequestAsync(context, Accepted, TimeSpan.FromSeconds(5), "a", cancellationToken);

        Assert.That(
            (context.Message.Body.ReadText(), context.Message.CorrelationId, context.GetProperty(MessageContext.StatusProperty)),
            Is.EqualTo(("42", "caller-7", 201d))
        );
        Assert.That(context.Message.Headers.Select(header => header.Key), Is.EqualTo(new[] { "x-a" }));
        Assert.That(Audit.Kinds, Is.EquivalentTo(new[] { AuditKind.Published, AuditKind.Replied }));
    }

    [Test, CancelAfter(30_000)]
    public void A_request_whose_reply_is_lost_was_published_all_the_same(CancellationToken cancellationToken)
    {
        Transport.Answer = _ => throw new EsbException("ESB-TOPIC-UNKNOWN", "The reply was lost.", FaultKind.Unavailable);

        Assert.That(
            async () => await Publisher(Plain).RequestAsync(Some.Context(), Accepted, TimeSpan.FromSeconds(5), "a", cancellationToken),
            Throws.TypeOf<EsbException>().With.Property("Code").EqualTo("ESB-TOPIC-UNKNOWN")
        );
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Published }));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_request_whose_caller_hangs_up_was_published_all_the_same(CancellationToken cancellationToken)
    {
        Transport.Answering = new TaskCompletionSource().Task;
        using var caller = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);

        var asking = Publisher(Plain).RequestAsync(Some.Context(), Accepted, TimeSpan.FromSeconds(5), "a", caller.Token).AsTask();
        await caller.CancelAsync();

        Assert.That(async () => await asking, Throws.InstanceOf<OperationCanceledException>());
        Assert.That(Audit.Kinds, Is.EqualTo(new[] { AuditKind.Published }));
    }

    [TestCase("""{ "title": "Out of apples.", "status": 422, "code": "ESB-X" }""", "Out of apples.", FaultKind.Invalid, 422)]
    [TestCase("""{ "title": "Away.", "status": 503 }""", "Away.", FaultKind.Unavailable, 503)]
    [TestCase("""{ "title": "Odd.", "status": 418 }""", "Odd.", FaultKind.Invalid, 418)]
    [TestCase("""{ "title": 7, "status": "x" }""", "The request failed.", FaultKind.Internal, 500)]
    [TestCase("no JSON", "The request failed.", FaultKind.Internal, 500)]
    [CancelAfter(30_000)]
    public void A_fault_is_thrown_as_it_was_at_the_other_side(
        string body,
        string sentence,
        FaultKind kind,
        int status,
        CancellationToken cancellationToken
    )
    {
        Transport.Answer = request =>
            request.Reply(MessageBody.FromText(body), TimeProvider.System) with
            {
                Headers = MessageHeaders.Empty.With(EsbHeaders.Fault, "ESB-X"),
            };

        var failure = Assert.ThrowsAsync<EsbException>(async () =>
            await Publisher(Plain).RequestAsync(Some.Context(), Accepted, TimeSpan.FromSeconds(5), "a", cancellationToken)
        );

        Assert.That((failure!.Code, failure.Message, failure.Kind, failure.Status), Is.EqualTo(("ESB-X", sentence, kind, status)));
        Assert.That(Audit.Facts.Single(fact => fact.Kind == AuditKind.Replied).Code, Is.EqualTo("ESB-X"));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_publish_is_a_span_and_counted(CancellationToken cancellationToken)
    {
        var subject = new Subject($"orders.{Guid.NewGuid():N}"); // other tests publish at the same time
        var spans = new List<Activity>();
        var counted = new List<(string Name, string? Unit, double Value)>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == "Esb.Topics",
            Sample = (ref _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = spans.Add,
        };
        ActivitySource.AddActivityListener(listener);
        using var meters = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (instrument.Meter.Name == "Esb.Topics")
                    self.EnableMeasurementEvents(instrument);
            },
        };
        meters.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Note(instrument, value, tags));
        meters.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Note(instrument, value, tags));
        meters.Start();

        await Publisher(Plain).PublishAsync(Some.Context(), subject, "a", cancellationToken);

        var span = spans.Single(candidate => candidate.DisplayName == $"send {subject}");
        Assert.That(
            (span.Kind, span.GetTagItem("messaging.system"), span.GetTagItem("messaging.message.id")),
            Is.EqualTo((ActivityKind.Producer, "scripted", Transport.Published.Single().Id))
        );
        Assert.That(
            counted.Select(measured => (measured.Name, measured.Unit)),
            Is.EquivalentTo(new[] { ("messaging.client.sent.messages", "{message}"), ("messaging.client.operation.duration", "s") })
        );

        void Note(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            if (tags.Contains(new("messaging.destination.name", subject.Value)))
                counted.Add((instrument.Name, instrument.Unit, value));
        }
    }

    private ITopicPublisher Publisher(string json) => Compose(json).GetRequiredService<ITopicPublisher>();

    // Lets the time of pauses pass until the work is done.
    private async Task PassAsync(Task work, CancellationToken cancellationToken)
    {
        while (!work.IsCompleted)
        {
            await Eventually.HoldsAsync(() => work.IsCompleted || Time.Waiting > 0, "a pause", cancellationToken);
            Time.Advance(TimeSpan.FromMilliseconds(500));
        }
    }
}
