using Esb.Configuration;
using Esb.Core.Endpoints;
using Esb.Endpoints.Http.Access;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using NSubstitute;

namespace Esb.Tests.Endpoints.Http.Access;

/// <summary>What stands before an endpoint costs no memory for each request.</summary>
public sealed class AllocationTests : AccessFixture
{
    private const int Calls = 10_000;

    // Without optimisation the compiler makes an object of every asynchronous method.
#if DEBUG
    private const int BytesPerCall = 161;
#else
    private const int BytesPerCall = 1;
#endif

    [Test]
    public void Endpoint_that_anybody_may_call_has_nothing_before_it()
    {
        Bus.Read(Orders(""), Parties);

        Assert.That(Access(), Is.Null);
    }

    [TestCase("", TestName = "API key"), TestCase(""", "rateLimit": { "calls": 1000000 } """, TestName = "API key and rate limit")]
    public void Letting_a_caller_in_by_its_key_allocates_nothing(string more)
    {
        Bus.Read(Orders($$""", "authentication": ["api-key"]{{more}}"""), Parties);
        var access = Access()!;
        var context = new DefaultHttpContext();
        Measure(access, context, 1_000); // what is made once

        Assert.That(Measure(access, context, Calls), Is.LessThan(Calls * BytesPerCall), "bytes");
    }

    [Test]
    public void Checking_user_and_password_allocates_nothing()
    {
        Bus.Read(Orders(""", "authentication": ["basic"] """), Parties);
        var check = Checks.Of(Bus, CredentialKind.Basic);
        var context = Checks.Request(Basic("shop", ShopPassword));
        check.IdentifyAsync(context).GetAwaiter().GetResult();

        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var call = 0; call < Calls; call++)
            check.IdentifyAsync(context).GetAwaiter().GetResult();

        Assert.That(GC.GetAllocatedBytesForCurrentThread() - before, Is.LessThan(Calls), "bytes: less than one for each call");
    }

    private EndpointAccess? Access()
    {
        Assert.That(Bus.Errors.All, Is.Empty);
        var config = Bus
            .Services.GetRequiredService<EsbConfiguration>()
            .Named<EndpointConfig>("endpoints")
            .Values.OfType<HttpInboundConfig>()
            .Single();
        return Bus.Services.GetRequiredService<AccessFactory>().Create(config, Substitute.For<IMessageIntake>());
    }

    private static long Measure(EndpointAccess access, HttpContext context, int calls)
    {
        var key = new Microsoft.Extensions.Primitives.StringValues(ShopKey);
        context.Request.Headers["X-Api-Key"] = key;
        var headers = context.Request.Headers;
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var call = 0; call < calls; call++)
        {
            headers["X-Api-Key"] = key; // it is taken out each time
            access.EnterAsync(context).GetAwaiter().GetResult();
        }

        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}
