using System.Collections.Concurrent;
using System.Net;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Management;

/// <summary>Commands under an <c>Idempotency-Key</c>.</summary>
[CancelAfter(60_000)]
public sealed class CommandKeyTests
{
    private RunningManagement _host = null!;

    [SetUp]
    public async Task Start() =>
        _host = await RunningManagement.StartAsync(
            CancellationToken.None,
            services => services.AddSingleton<IIdempotencyKeys, KeysInMemory>()
        );

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [Test]
    public async Task Repeated_command_gets_the_first_answer_and_is_carried_out_once(CancellationToken cancellationToken)
    {
        using var first = await SendAsync("k-1", "{}", cancellationToken);
        using var again = await SendAsync("k-1", "{}", cancellationToken);
        using var other = await SendAsync("k-2", "{}", cancellationToken);

        Assert.That(_host.Publisher.Published, Has.Count.EqualTo(2));
        Assert.That(again.StatusCode, Is.EqualTo(HttpStatusCode.Accepted));
        Assert.That(
            await again.Content.ReadAsStringAsync(cancellationToken),
            Is.EqualTo(await first.Content.ReadAsStringAsync(cancellationToken))
        );
        Assert.That(again.Headers.Contains("Idempotency-Replayed"), Is.True);
    }

    [Test]
    public async Task Key_of_another_command_is_refused(CancellationToken cancellationToken)
    {
        using var first = await SendAsync("k-1", "{}", cancellationToken);
        using var other = await SendAsync("k-1", "{ }", cancellationToken);

        Assert.That(await Problem.ReadCodeAsync(other, cancellationToken), Is.EqualTo("ESB-API-IDEMCONFLICT"));
    }

    [Test]
    public async Task Command_that_failed_may_be_repeated(CancellationToken cancellationToken)
    {
        _host.Publisher.Failure = new Esb.Core.Errors.EsbException("ESB-TOPIC-UNAVAILABLE", "away", Esb.Core.Errors.FaultKind.Unavailable);
        using var failed = await SendAsync("k-1", "{}", cancellationToken);
        _host.Publisher.Failure = null;
        using var again = await SendAsync("k-1", "{}", cancellationToken);

        Assert.That((failed.StatusCode, again.StatusCode), Is.EqualTo((HttpStatusCode.ServiceUnavailable, HttpStatusCode.Accepted)));
    }

    private async Task<HttpResponseMessage> SendAsync(string key, string body, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/api/topics/orders.new/messages")
        {
            Content = new StringContent(body),
            Headers = { { "Idempotency-Key", key } },
        };
        return await _host.Client.SendAsync(request, cancellationToken);
    }

    private sealed class KeysInMemory : IIdempotencyKeys
    {
        private readonly ConcurrentDictionary<IdempotencyKey, (byte[] Hash, RecordedAnswer? Answer)> _known = new();

        public Task<KeyClaim> ClaimAsync(IdempotencyKey key, ReadOnlyMemory<byte> bodyHash, CancellationToken cancellationToken)
        {
            if (_known.TryAdd(key, (bodyHash.ToArray(), null)))
                return Task.FromResult<KeyClaim>(new KeyClaim.Granted(key, bodyHash, Guid.NewGuid()));
            var (hash, answer) = _known[key];
            return Task.FromResult<KeyClaim>(
                !hash.AsSpan().SequenceEqual(bodyHash.Span) ? new KeyClaim.Conflicting()
                : answer is null ? new KeyClaim.Running()
                : new KeyClaim.Answered(answer)
            );
        }

        public Task RenewAsync(KeyClaim.Granted claim, CancellationToken cancellationToken) => Task.CompletedTask;

        public Task CompleteAsync(KeyClaim.Granted claim, RecordedAnswer answer, CancellationToken cancellationToken)
        {
            _known[claim.Key] = (claim.BodyHash.ToArray(), answer);
            return Task.CompletedTask;
        }

        public Task ReleaseAsync(KeyClaim.Granted claim, CancellationToken cancellationToken)
        {
            _known.TryRemove(claim.Key, out _);
            return Task.CompletedTask;
        }
    }
}
