using Esb.Audit;
using Esb.Audit.Recording;
using Esb.Audit.Services;
using Esb.Audit.Steps;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Esb.Tests.Audit.Recording;
using Esb.Tests.Fakes;
using Esb.Tests.Storage;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using NUnit.Framework;

namespace Esb.Tests.Audit.Steps;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class AuditStepTests
{
    private readonly MemoryAuditTrail _trail = new();
    private readonly RecordingLogger _log = new();
    private ConfiguredAudit _audit = null!;

    [SetUp]
    public void Configure() => _audit = new ConfiguredAudit("{}");

    [TearDown]
    public void Remove() => _audit.Dispose();

    [Test]
    public async Task The_fact_belongs_to_the_message_as_it_came_in()
    {
        var context = Some.Context();
        context.Process = "receive-order";
        var received = context.Received;
        context.Message = Some.Message("<changed/>");

        await Compile(new AuditStepConfig { As = "order-received" }).RunAsync(context, default);

        var fact = _trail.Facts.Single();
        Assert.That(
            (fact.Kind, fact.Name, fact.Process, fact.Endpoint),
            Is.EqualTo((AuditKind.Recorded, "order-received", "receive-order", context.Endpoint))
        );
        Assert.That((fact.MessageId, fact.ConversationId), Is.EqualTo((received.Id, received.ConversationId)));
        Assert.That(fact.Body, Is.Null);
    }

    [Test]
    public async Task Fields_are_recorded_as_text()
    {
        var step = Compile(new AuditStepConfig { As = "a" }, ("order", _ => "A-1001"), ("total", _ => 1500.0), ("urgent", _ => true));

        await step.RunAsync(Some.Context(), default);

        Assert.That(
            _trail.Facts.Single().Fields,
            Is.EquivalentTo(
                new Dictionary<string, string>
                {
                    ["order"] = "A-1001",
                    ["total"] = "1500",
                    ["urgent"] = "true",
                }
            )
        );
    }

    [Test, Property("Case", "AUD-01")]
    public async Task A_field_without_a_value_is_absent_and_warned_about_once_a_minute()
    {
        var step = Compile(new AuditStepConfig { As = "a" }, ("order", _ => "A-1001"), ("total", _ => null));

        await step.RunAsync(Some.Context(), default);
        await step.RunAsync(Some.Context(), default);

        Assert.That(_trail.Facts.Select(fact => fact.Fields.Keys), Is.All.EqualTo(new[] { "order" }));
        Assert.That(_audit.Warnings.Lines, Has.Count.EqualTo(1));
        Assert.That(_audit.Warnings.Lines[0], Does.Contain("total"));
    }

    [Test, CancelAfter(30_000)]
    public async Task A_streaming_body_is_recorded_whole_and_goes_on_to_the_next_step(CancellationToken cancellationToken)
    {
        var message = Some.Message() with
        {
            Body = MessageBody.FromStream(new MemoryStream("<order/>"u8.ToArray())),
            ContentType = "application/xml",
        };
        var context = Some.Context(message);

        await Compile(new AuditStepConfig { As = "a", Body = true }).RunAsync(context, cancellationToken);

        var fact = _trail.Facts.Single();
        Assert.That(fact.Body!.Value.ToArray(), Is.EqualTo("<order/>"u8.ToArray()));
        Assert.That(fact.ContentType, Is.EqualTo("application/xml"));
        Assert.That(context.Message.Body.ReadText(), Is.EqualTo("<order/>"));
    }

    [Test]
    public async Task A_body_that_is_not_asked_for_keeps_streaming()
    {
        var context = Some.Context(Some.Message() with { Body = MessageBody.FromStream(new MemoryStream()) });

        await Compile(new AuditStepConfig { As = "a" }, ("order", _ => "A-1001")).RunAsync(context, default);

        Assert.That(context.Message.Body.IsBuffered, Is.False);
    }

    [Test, Property("Case", "AUD-02")]
    public async Task Fields_and_body_are_masked_also_where_the_secret_comes_by_a_property()
    {
        using var audit = new ConfiguredAudit(
            """{ "audit": { "maxBody": "20B", "masks": [{ "jsonpath": "$.card", "action": "last4" }] } }"""
        );
        var context = Some.Context(Some.Message("""{"id":1,"card":"4111111111111111"}"""));
        context.SetProperty("card", "4111111111111111");
        var step = Compile(
            new AuditStepConfig { As = "a", Body = true },
            audit.Recorder,
            ("body", seen => seen.Message.Body.ReadText()),
            ("property", seen => seen.GetProperty("card"))
        );

        await step.RunAsync(context, default);

        var fact = _trail.Facts.Single();
        Assert.That(
            fact.Fields,
            Is.EquivalentTo(new Dictionary<string, string> { ["body"] = """{"id":1,"card":"****1111"}""", ["property"] = "****1111" })
        );
        Assert.That(
            (System.Text.Encoding.UTF8.GetString(fact.Body!.Value.Span), fact.BodyState),
            Is.EqualTo(("""{"id":1,"card":"****""", AuditBodyState.Masked))
        );
        Assert.That(context.Message.Body.ReadText(), Does.Contain("4111111111111111"), "the message itself goes on as it was");
    }

    [Test, Property("Case", "AUD-02")]
    public async Task Fields_are_masked_also_where_only_the_message_as_it_came_in_had_the_secret()
    {
        using var audit = new ConfiguredAudit("""{ "audit": { "masks": [{ "jsonpath": "$.card", "action": "last4" }] } }""");
        var context = Some.Context(Some.Message("""{"card":"4111111111111111"}"""));
        context.SetProperty("card", "4111111111111111");
        context.Message = Some.Message("""{"id":1}""");
        MaskedFlow.Follow(audit.Recorder.Mask, context);

        await Compile(new AuditStepConfig { As = "a" }, audit.Recorder, ("card", seen => seen.GetProperty("card")))
            .RunAsync(context, default);

        Assert.That(_trail.Facts.Single().Fields["card"], Is.EqualTo("****1111"));
    }

    [TestCase("""{"ok":true}""", TestName = "Fields and texts are masked also where only an answer in between had the secret")]
    // as a transaction that failed leaves it
    [TestCase(null, TestName = "Fields and texts are masked also where the message is the received one again")]
    [Property("Case", "AUD-02")]
    public async Task Fields_and_texts_are_masked_as_what_was_there_in_between(string? last)
    {
        using var audit = new ConfiguredAudit("""{ "audit": { "masks": [{ "jsonpath": "$.card", "action": "last4" }] } }""");
        var context = Some.Context(Some.Message("""{"id":1}"""));
        MaskedFlow.Follow(audit.Recorder.Mask, context);
        context.Message = Some.Message("""{"card":"4111111111111111"}""");
        context.SetProperty("card", "4111111111111111");
        context.Message = last is null ? context.Received : Some.Message(last);

        await Compile(new AuditStepConfig { As = "a" }, audit.Recorder, ("card", seen => seen.GetProperty("card")))
            .RunAsync(context, default);

        Assert.That(_trail.Facts.Single().Fields["card"], Is.EqualTo("****1111"));
        Assert.That(MaskedFlow.Clean("card 4111111111111111"), Is.EqualTo("card ****1111"));
    }

    [Test, CancelAfter(30_000), Property("Case", "T-AUD-3")]
    public async Task A_message_that_waits_too_long_for_its_turn_fails_with_a_pool_timeout_and_a_warning(
        CancellationToken cancellationToken
    )
    {
        var gate = new TaskCompletionSource();
        _trail.Gate = gate.Task;
        var step = Compile(
            new AuditStepConfig
            {
                As = "order-received",
                MaximumInstances = 1,
                PoolTimeout = TimeSpan.FromMilliseconds(50),
            }
        );
        var first = step.RunAsync(Some.Context(), cancellationToken);

        Assert.That(
            () => step.RunAsync(Some.Context(), cancellationToken).AsTask(),
            Throws.TypeOf<PoolTimeoutException>().With.Property(nameof(EsbException.Code)).EqualTo("ESB-POOL-TIMEOUT")
        );
        Assert.That(_log.Warnings.Single(), Does.StartWith("waiting for a free instance of audit step order-received"));

        gate.SetResult();
        await first;
        await step.RunAsync(Some.Context(), cancellationToken);
        Assert.That(_trail.Facts, Has.Count.EqualTo(2));
    }

    [Test, CancelAfter(10_000), Property("Case", "T-AUD-3")]
    public async Task A_message_waits_for_a_proxy_and_for_the_service_no_longer_than_the_pool_timeout(CancellationToken cancellationToken)
    {
        var (time, working) = (new ManualTime(), new TaskCompletionSource());
        _trail.Gate = working.Task;
        var services = new AuditServices(new AuditConfig { MaxConcurrentInstances = 1 }, _trail, time, NullLogger<AuditServices>.Instance);
        var config = new AuditStepConfig
        {
            As = "a",
            MaximumInstances = 1,
            PoolTimeout = TimeSpan.FromSeconds(5),
        };
        var proxies = new InstancePool<AuditProxy>(
            "audit step a",
            () => new AuditProxy(services),
            new PoolLimits(config.MaximumInstances, config.PoolTimeout),
            time,
            _log
        );
        var step = new AuditStep(config, [], proxies, maxBodyBytes: 1000, _audit.Recorder, time);
        var another = new AuditProxy(services).RecordAsync(SomeFacts.Fact(), TimeSpan.FromHours(1), cancellationToken).AsTask();

        var first = step.RunAsync(Some.Context(), cancellationToken).AsTask(); // has the proxy, waits for the service
        time.Advance(TimeSpan.FromSeconds(2));
        var second = step.RunAsync(Some.Context(), cancellationToken).AsTask(); // waits for the proxy, and then for the service
        time.Advance(TimeSpan.FromSeconds(3));
        Assert.That(() => first, Throws.TypeOf<PoolTimeoutException>().With.Message.Contains("the audit service"));
        await Eventually.HoldsAsync(() => services.Status.Waiting == 1 && time.Waiting == 1, cancellationToken);
        time.Advance(TimeSpan.FromSeconds(1.9));
        var isEarly = second.IsCompleted;
        time.Advance(TimeSpan.FromSeconds(0.1));

        Assert.That(() => second, Throws.TypeOf<PoolTimeoutException>());
        Assert.That(isEarly, Is.False);
        working.SetResult();
        await another;
        await step.RunAsync(Some.Context(), cancellationToken);
        Assert.That(_trail.Facts, Has.Count.EqualTo(2));
    }

    private AuditStep Compile(AuditStepConfig config, params (string Name, Func<MessageContext, object?> Value)[] fields) =>
        Compile(config, _audit.Recorder, fields);

    private AuditStep Compile(
        AuditStepConfig config,
        AuditRecorder recorder,
        params (string Name, Func<MessageContext, object?> Value)[] fields
    )
    {
        var services = new AuditServices(new AuditConfig(), _trail, TimeProvider.System, NullLogger<AuditServices>.Instance);
        var proxies = new InstancePool<AuditProxy>(
            $"audit step {config.As}",
            () => new AuditProxy(services),
            new PoolLimits(config.MaximumInstances, config.PoolTimeout),
            TimeProvider.System,
            _log
        );
        return new AuditStep(
            config,
            [.. fields.Select(field => new AuditField(field.Name, new Computed(field.Value)))],
            proxies,
            maxBodyBytes: 1000,
            recorder,
            TimeProvider.System
        );
    }

    private sealed class Computed(Func<MessageContext, object?> value) : IMessageValue
    {
        public bool ReadsBody => false;

        public object? Evaluate(MessageContext context) => value(context);
    }

    private sealed class RecordingLogger : ILogger<AuditStep>
    {
        public List<string> Warnings { get; } = [];

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel,
            EventId eventId,
            TState state,
            Exception? exception,
            Func<TState, Exception?, string> formatter
        )
        {
            if (logLevel == LogLevel.Warning)
                Warnings.Add(formatter(state, exception));
        }
    }
}
