using BenchmarkDotNet.Attributes;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Targets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Benchmarks;

/// <summary>A call of an HTTP service: at the endpoint's own address, at a target that the message names, and at an endpoint that is made
/// for each message.</summary>
/// <remarks>The last is what a dynamic send port does without a cache; it is here to show what the cache is worth.</remarks>
[MemoryDiagnoser]
public class CallTargetBenchmark
{
    private const string Region = "east";

    private readonly EsbMessage _message = EsbMessage.Create(MessageBody.FromBytes(new byte[1_024]), TimeProvider.System);
    private WebApplication _service = null!;
    private HttpOutboundConfig _config = null!;
    private HttpTarget _target = null!;
    private HttpOutboundEndpoint _endpoint = null!;
    private EsbMessage _named = null!;

    [GlobalSetup]
    public async Task StartAsync()
    {
        var builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().UseUrls("http://127.0.0.1:0");
        _service = builder.Build();
        _service.Run(context => context.Request.Body.CopyToAsync(context.Response.Body));
        await _service.StartAsync();
        var url = _service.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single();

        _config = new HttpOutboundConfig
        {
            Name = "regions",
            Url = url,
            Targets = new Dictionary<string, HttpTargetConfig> { [Region] = new() { Url = url } },
        };
        _target = new HttpTarget(_config, TimeProvider.System, NullLoggerFactory.Instance);
        _endpoint = EndpointOf(_target);
        _named = _message with { Headers = _message.Headers.With(EsbHeaders.Target, Region) };
    }

    [GlobalCleanup]
    public async Task StopAsync()
    {
        await _target.DisposeAsync();
        await _service.DisposeAsync();
    }

    [Benchmark(Baseline = true)]
    public ValueTask<EsbMessage?> Static() => _endpoint.SendAsync(_message, CancellationToken.None);

    [Benchmark]
    public ValueTask<EsbMessage?> Dynamic() => _endpoint.SendAsync(_named, CancellationToken.None);

    [Benchmark]
    public async Task<EsbMessage?> DynamicWithoutCache()
    {
        await using var target = new HttpTarget(_config, TimeProvider.System, NullLoggerFactory.Instance);
        return await EndpointOf(target).SendAsync(_named, CancellationToken.None);
    }

    private HttpOutboundEndpoint EndpointOf(HttpTarget target) =>
        new(
            _config,
            target,
            new HttpDestinations(_config, live: null),
            RequestAddress.AtUrl(_config.Name),
            maxBodyBytes: 1_048_576,
            TimeProvider.System
        );
}
