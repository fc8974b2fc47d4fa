using System.Text;
using Esb.Delivery.Intake;
using Esb.Delivery.Intake.Overload;
using Esb.Endpoints.Http.Listening;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Http.Receiving;

/// <summary>An endpoint that another one replaces, as a reload does.</summary>
public sealed class ReplacedEndpointTests
{
    private readonly HttpRoute _route = new("in", "/in", ["POST"], [], HttpProblems.Instance);

    [Test, CancelAfter(30_000)]
    public async Task Request_that_was_on_its_way_to_it_is_answered_by_the_next_one(CancellationToken cancellationToken)
    {
        var (before, next) = (Endpoint("before"), Endpoint("next"));
        await before.StartAsync(cancellationToken);
        var context = new DefaultHttpContext { Response = { Body = new MemoryStream() } };
        // Asked for as the request is about to be admitted.
        context.Features.Set<IHttpRequestLifetimeFeature>(
            new Lifetime(() =>
            {
                next.StartAsync(cancellationToken).GetAwaiter().GetResult();
                before.StopAsync(cancellationToken).GetAwaiter().GetResult();
            })
        );

        await _route.HandleAsync(context);

        Assert.That(Encoding.UTF8.GetString(((MemoryStream)context.Response.Body).ToArray()), Is.EqualTo("next"));
    }

    private HttpInboundEndpoint Endpoint(string answer) =>
        new(
            new HttpInboundConfig { Name = "in", RequestPath = "/in" },
            _route,
            new Answer(answer),
            access: null,
            new Admission(overload: null, audit: null, needsTopics: false, new CallGate(2, TimeProvider.System)),
            new IntakeState("in", TimeProvider.System),
            NullLogger<HttpInboundEndpoint>.Instance
        );

    private sealed class Answer(string text) : IHttpExchange
    {
        public Task HandleAsync(HttpContext context, CancellationToken aborting) => context.Response.WriteAsync(text, aborting);
    }

    private sealed class Lifetime(Action onFirst) : IHttpRequestLifetimeFeature
    {
        private bool _isAsked;

        public CancellationToken RequestAborted
        {
            get
            {
                if (_isAsked)
                    return CancellationToken.None;
                _isAsked = true;
                onFirst();
                return CancellationToken.None;
            }
            set { }
        }

        public void Abort() { }
    }
}
