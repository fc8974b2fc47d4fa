using System.Diagnostics;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Host.Telemetry;
using Esb.Tests.Audit.Recording;
using OpenTelemetry;
using OpenTelemetry.Trace;

namespace Esb.Tests.Host.Telemetry;

[Property("Case", "AUD-02")]
public sealed class SpanMaskTests
{
    private const string Card = "4111111111111111";
    private static readonly ActivitySource Source = new("Esb.Tests.SpanMask");

    private EndedSpans _ended = null!;
    private ConfiguredAudit _audit = null!;
    private TracerProvider _provider = null!;

    [SetUp]
    public void StartTracing()
    {
        _audit = new ConfiguredAudit(
            """{ "audit": { "masks": [{ "jsonpath": "$.card", "action": "last4" }, { "header": "user-agent" }] } }"""
        );
        _ended = new EndedSpans();
        _provider = Sdk.CreateTracerProviderBuilder()
            .AddSource(Source.Name)
            .AddProcessor(new SpanMask(Live<IMessageMask>.Always(_audit.Trail.Mask)))
            .AddProcessor(_ended)
            .Build();
    }

    [TearDown]
    public void StopTracing()
    {
        _provider.Dispose();
        _ended.Dispose();
        _audit.Dispose();
    }

    [Test]
    public void What_is_masked_in_the_message_is_in_no_attribute_exception_or_status_of_its_spans()
    {
        MaskedFlow.Follow(_audit.Trail.Mask, Some.Message($$"""{"card":"{{Card}}"}""", contentType: "application/json"));

        using (var span = Source.StartActivity("insert", ActivityKind.Client)!)
        {
            span.SetTag("db.query.text", $"insert into card values ({Card})").SetTag("db.npgsql.rows", 1);
            span.AddException(new InvalidOperationException($"duplicate key: {Card}"));
            span.AddEvent(new ActivityEvent("retried"));
            span.SetStatus(ActivityStatusCode.Error, $"it has {Card} already");
        }

        var ended = _ended.Spans.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                (ended.GetTagItem("db.query.text"), ended.GetTagItem("db.npgsql.rows")),
                Is.EqualTo(("insert into card values (****1111)", 1))
            );
            Assert.That((ended.Status, ended.StatusDescription), Is.EqualTo((ActivityStatusCode.Error, "it has ****1111 already")));
            Assert.That(ended.Events.Select(happened => happened.Name), Is.EqualTo(new[] { "exception", "retried" }));
            Assert.That(ended.Events.First().Tags.ToDictionary()["exception.message"], Is.EqualTo("duplicate key: ****1111"));
            Assert.That(ended.Events.SelectMany(happened => happened.Tags).Select(tag => $"{tag.Value}"), Has.None.Contains(Card));
        }
    }

    [Test]
    public void Names_of_the_configuration_stay_as_they_are()
    {
        MaskedFlow.Follow(_audit.Trail.Mask, Some.Message("""{"card":"orders"}""", contentType: "application/json"));

        using (var span = Source.StartActivity("send orders.new")!)
            span.SetTag("messaging.destination.name", "orders.new");

        Assert.That(_ended.Spans.Single().GetTagItem("messaging.destination.name"), Is.EqualTo("orders.new"));
    }

    [Test]
    public void Header_that_the_server_shows_is_masked_as_headers_of_messages_are()
    {
        using (var span = Source.StartActivity("POST /orders", ActivityKind.Server)!)
            span.SetTag("user_agent.original", "shop/secret-build");

        Assert.That(_ended.Spans.Single().GetTagItem("user_agent.original"), Is.EqualTo("****"));
    }

    private sealed class EndedSpans : BaseProcessor<Activity>
    {
        public List<Activity> Spans { get; } = [];

        public override void OnEnd(Activity data) => Spans.Add(data);
    }
}
