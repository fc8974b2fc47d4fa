using System.Text.Json;
using Esb.Core.Brokers;
using Esb.Core.Endpoints;
using Esb.Core.Topics;
using Esb.Endpoints.MassTransit;
using Esb.Tests.Endpoints.Brokers;
using Esb.Tests.Endpoints.Contracts;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.MassTransit;

[TestFixture]
internal sealed class MassTransitOutboundContract : OutboundEndpointContract
{
    private FakePublisher _publisher = null!;

    [SetUp]
    public void CreatePublisher() => _publisher = new FakePublisher();

    [TearDown]
    public async Task DisposePublisher() => await _publisher.DisposeAsync();

    protected override string BodyOf(string text) => $$"""{"text":"{{text}}"}""";

    protected override IOutboundAdapter Create() => Create(_publisher);

    protected override IOutboundAdapter CreateAway() =>
        Create(new FakePublisher { Answer = _ => new BrokerResult(PublishOutcome.Refused, "broker away") { IsOutage = true } });

    protected override Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<string>>([
            .. _publisher.Published.Select(message => JsonDocument.Parse(message.Body).RootElement.GetProperty("message").GetRawText()),
        ]);

    private static MassTransitOutboundAdapter Create(FakePublisher publisher) =>
        new(
            SomeEnvelopes.Outbound,
            SomeEnvelopes.Writer(),
            publisher,
            replies: null,
            TimeProvider.System,
            NullLogger<MassTransitOutboundEndpoint>.Instance
        );
}
