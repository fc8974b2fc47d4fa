using Esb.Core;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.DeadLetters;

namespace Esb.Storage;

/// <summary>One kind of store: everything that is kept, in one place.</summary>
internal interface IStore : IBusPart, IHealthCheck, IAsyncDisposable
{
    IAuditStore Audit { get; }

    IAuditRetention Retention { get; }

    IAuditEraser Eraser { get; }

    IDeadLetterStore DeadLetters { get; }

    ILetterRetention LetterRetention { get; }

    IParkingStore Parking { get; }

    ICrashMarks CrashMarks { get; }

    IAttemptStore Attempts { get; }

    IReplayJobStore ReplayJobs { get; }

    IIdempotencyKeys IdempotencyKeys { get; }

    ILeaseStore Leases { get; }

    IClaimCheckStore ClaimChecks { get; }

    IActivityStore Activities { get; }
}
