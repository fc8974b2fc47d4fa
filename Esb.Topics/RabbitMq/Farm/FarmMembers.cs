using System.Collections.Immutable;
using Esb.Core.Topics;

namespace Esb.Topics.RabbitMq.Farm;

/// <summary>Live hosts, by heartbeat. Thread-safe.</summary>
internal sealed class FarmMembers(FarmHost self, TimeProvider time)
{
    /// <summary>The interval between two heartbeats of a host.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan MissedAfter = TimeSpan.FromSeconds(7);
    private static readonly TimeSpan Proof = MissedAfter - Interval;

    private readonly Lock _gate = new();
    private ImmutableSortedDictionary<Guid, Member> _members = ImmutableSortedDictionary<Guid, Member>.Empty.Add(
        self.Id,
        new Member(self, [], 0, IsProven: false)
    );
    private long? _hearingSince;
    private long _selfHeardAt;

    /// <summary>Raised when a host joins or leaves, or receives something else.</summary>
    public event Action? Changed;

    public IReadOnlyList<FarmHost> Hosts => [.. Volatile.Read(ref _members).Values.Select(member => member.Host)];

    /// <summary>The time for which this host has heard all messages, proven by its own heartbeats; zero while it hears none.</summary>
    public TimeSpan HearingFor
    {
        get
        {
            lock (_gate)
                return _hearingSince is { } since && IsHearing() ? time.GetElapsedTime(since) : TimeSpan.Zero;
        }
    }

    /// <summary>True if this host has listened long enough to have heard every live host.</summary>
    public bool KnowsAll => HearingFor > Interval + (Interval / 4);

    /// <summary>Returns the hosts that receive for an endpoint, including this one.</summary>
    public IReadOnlyList<(Guid Host, FarmReceiver Receiver)> ReceiversOf(string endpoint) =>
        [
            .. Volatile
                .Read(ref _members)
                .Values.SelectMany(member => member.Receives.Where(one => one.Endpoint == endpoint).Select(one => (member.Host.Id, one))),
        ];

    /// <summary>Returns those of <see cref="ReceiversOf"/> that have proven to be of this farm, if this host can tell: a stranger that
    /// says it is a host gets no share of the work.</summary>
    public IReadOnlyList<(Guid Host, FarmReceiver Receiver)> ProvenReceiversOf(string endpoint)
    {
        var members = Volatile.Read(ref _members);
        var canTell = members.TryGetValue(self.Id, out var own) && own.IsProven;
        return
        [
            .. ReceiversOf(endpoint)
                .Where(one => !canTell || one.Host == self.Id || (members.TryGetValue(one.Host, out var member) && member.IsProven)),
        ];
    }

    /// <summary>Records the heartbeat of a host, with what it receives.</summary>
    /// <param name="host">The host.</param>
    /// <param name="receives">What it receives.</param>
    /// <param name="isProven">True if a signature proves that it is from that host. A host that has once proven itself is not heard
    /// otherwise any more.</param>
    public void Hear(FarmHost host, IReadOnlyList<FarmReceiver> receives, bool isProven)
    {
        bool isNews;
        lock (_gate)
        {
            if (!isProven && IsProven(host.Id))
                return;
            var now = time.GetTimestamp();
            if (host.Id == self.Id)
                NoteEcho(now);
            isNews = !_members.TryGetValue(host.Id, out var known) || !Says(known.Receives, receives);
            _members = _members.SetItem(
                host.Id,
                new Member(host, host.Id == self.Id && known is not null ? known.Receives : receives, now, isProven)
            );
        }

        if (isNews && host.Id != self.Id)
            Changed?.Invoke();
    }

    /// <summary>Records that this host receives something else.</summary>
    public void Receive(IReadOnlyList<FarmReceiver> receives)
    {
        lock (_gate)
            _members = _members.SetItem(self.Id, new Member(self, receives, time.GetTimestamp(), IsProven(self.Id)));
        Changed?.Invoke();
    }

    /// <summary>Records that a host stops.</summary>
    /// <param name="host">Its id.</param>
    /// <param name="isProven">True if a signature proves it; without one, only hosts that have never proven themselves leave.</param>
    public void Leave(Guid host, bool isProven)
    {
        if (host == self.Id)
            return;
        lock (_gate)
        {
            if (!_members.ContainsKey(host) || (!isProven && IsProven(host)))
                return;
            _members = _members.Remove(host);
        }

        Changed?.Invoke();
    }

    /// <summary>Removes hosts that have been silent for long, but none while this host itself hears nothing.</summary>
    /// <remarks>Silence counts only while this host hears itself: when it is cut off, the last heartbeat of others may be one interval
    /// older than its own.</remarks>
    public void Sweep()
    {
        lock (_gate)
        {
            if (!IsHearing())
                return;
            var silent = _members
                .Values.Where(member =>
                    member.Host.Id != self.Id
                    && time.GetElapsedTime(member.HeardAt) > MissedAfter
                    && time.GetElapsedTime(member.HeardAt, _selfHeardAt) >= Proof
                )
                .Select(member => member.Host.Id)
                .ToList();
            if (silent.Count == 0)
                return;
            _members = _members.RemoveRange(silent);
        }

        Changed?.Invoke();
    }

    private bool IsProven(Guid host) => _members.TryGetValue(host, out var known) && known.IsProven;

    private void NoteEcho(long now)
    {
        if (_hearingSince is null || !IsHearing())
            _hearingSince = now;
        _selfHeardAt = now;
    }

    private bool IsHearing() => _hearingSince is not null && time.GetElapsedTime(_selfHeardAt) < MissedAfter;

    private static bool Says(IReadOnlyList<FarmReceiver> one, IReadOnlyList<FarmReceiver> other) =>
        one.Count == other.Count && one.Zip(other).All(pair => pair.First.Says(pair.Second));

    private sealed record Member(FarmHost Host, IReadOnlyList<FarmReceiver> Receives, long HeardAt, bool IsProven);
}
