using System.Diagnostics;
using System.Diagnostics.Metrics;
using Esb.Core.Diagnostics;
using Esb.Endpoints.Http.Access;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Http.Access;

/// <summary>Refused calls are counted one by one, and told once in a while.</summary>
public sealed class DeniedCallsTests : AccessFixture
{
    [Test, CancelAfter(30_000)]
    public async Task Refusals_are_counted_by_endpoint_code_and_party(CancellationToken cancellationToken)
    {
        var counted = new List<string>();
        using var listener = Listen(counted);
        await Bus.StartAsync(
            Orders(""", "authentication": ["api-key"], "parties": ["shop"], "rateLimit": { "calls": 1, "per": "1h" } """),
            Parties
        );

        foreach (var key in new[] { "nobody-key-0123456789", "nobody-key-9876543210", CarrierKey, ShopKey, ShopKey })
            (await AskAsync("/orders", WithKey(key), cancellationToken)).Dispose();

        Assert.That(
            counted,
            Is.EqualTo(
                new[]
                {
                    "esb.http.request.denied orders ESB-HTTP-UNAUTHENTICATED -",
                    "esb.http.request.denied orders ESB-HTTP-UNAUTHENTICATED -",
                    "esb.http.request.denied orders ESB-HTTP-FORBIDDEN carrier",
                    "esb.party.requests orders - shop",
                    "esb.http.request.denied orders ESB-HTTP-RATELIMIT shop",
                }
            )
        );
        Assert.That(Bus.Status.Single().Failures, Is.EqualTo(4));
    }

    [Test, CancelAfter(30_000)]
    public async Task Refusals_of_one_reason_are_one_line_in_ten_seconds(CancellationToken cancellationToken)
    {
        var time = new ManualTime();
        await using var bus = Secured(new HttpBus { Time = time });
        await bus.StartAsync(Orders(""", "authentication": ["api-key"], "parties": ["shop"] """), Parties);
        using var stranger = new HttpClient { BaseAddress = bus.Address };
        using var carrier = new HttpClient { BaseAddress = bus.Address, DefaultRequestHeaders = { { "X-Api-Key", CarrierKey } } };

        for (var call = 0; call < 5; call++)
            (await stranger.PostAsync("/orders", null, cancellationToken)).Dispose();
        for (var call = 0; call < 2; call++)
            (await carrier.PostAsync("/orders", null, cancellationToken)).Dispose();
        time.Advance(TimeSpan.FromSeconds(11));
        (await stranger.PostAsync("/orders", null, cancellationToken)).Dispose();

        Assert.That(
            bus.Log.All.Select(line => line.Text.Trim()).Where(line => line.Contains("refused a call", StringComparison.Ordinal)),
            Is.EqualTo(
                new[]
                {
                    "Endpoint orders refused a call: Missing (ESB-HTTP-UNAUTHENTICATED), from no party at 127.0.0.1; 0 more since the "
                        + "last warning",
                    "Endpoint orders refused a call: Forbidden (ESB-HTTP-FORBIDDEN), from carrier at 127.0.0.1; 0 more since the "
                        + "last warning",
                    "Endpoint orders refused a call: Missing (ESB-HTTP-UNAUTHENTICATED), from no party at 127.0.0.1; 4 more since the "
                        + "last warning",
                }
            )
        );
    }

    [Test, CancelAfter(30_000)]
    public async Task Span_of_a_request_names_its_party(CancellationToken cancellationToken)
    {
        var parties = new List<object?>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name == "Microsoft.AspNetCore",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = activity =>
            {
                lock (parties)
                    parties.Add(activity.GetTagItem(EsbTelemetry.Tags.Party));
            },
        };
        ActivitySource.AddActivityListener(listener);
        await Bus.StartAsync(Orders(""", "authentication": ["api-key"] """), Parties);

        (await AskAsync("/orders", WithKey(ShopKey), cancellationToken)).Dispose();

        await Eventually.HoldsAsync(() => Seen(parties), "the span", cancellationToken);
    }

    private static bool Seen(List<object?> parties)
    {
        lock (parties)
            return parties.Contains("shop");
    }

    private static MeterListener Listen(List<string> counted)
    {
        var listener = new MeterListener
        {
            InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Name is EsbTelemetry.Metrics.DeniedRequests or EsbTelemetry.Metrics.PartyRequests)
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>(
            (instrument, _, tags, _) =>
            {
                var values = tags.ToArray().ToDictionary(tag => tag.Key, tag => tag.Value);
                lock (counted)
                    counted.Add(
                        $"{instrument.Name} {values[EsbTelemetry.Tags.Endpoint]} "
                            + $"{values.GetValueOrDefault(EsbTelemetry.Tags.ErrorType) ?? "-"} "
                            + $"{values.GetValueOrDefault(EsbTelemetry.Tags.Party) ?? "-"}"
                    );
            }
        );
        listener.Start();
        return listener;
    }
}
