using System.Globalization;
using Jint;
using Jint.Native;
using Jint.Native.Function;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Descriptors;
using Jint.Runtime.Interop;

namespace Esb.Content.Transforms.Scripts;

/// <summary>Creates the engine of one run: without access to .NET, files or other scripts, and without built-in functions that could exceed
/// the limits of a run.</summary>
/// <remarks>
/// Each run has an engine of its own, so that no run sees what another changed: globals, prototypes, state of the module. Creating one
/// costs less than resetting one could. The parsed module is shared.
/// </remarks>
internal static class ScriptRealm
{
    // Binary buffers and shared memory allocate or wait in one call; proxies and generators recurse where nothing is checked.
    private static readonly string[] Removed =
    [
        "Proxy",
        "BigInt",
        "Atomics",
        "SharedArrayBuffer",
        "ArrayBuffer",
        "DataView",
        "WeakRef",
        "FinalizationRegistry",
        "ShadowRealm",
        "Int8Array",
        "Uint8Array",
        "Uint8ClampedArray",
        "Int16Array",
        "Uint16Array",
        "Int32Array",
        "Uint32Array",
        "Float16Array",
        "Float32Array",
        "Float64Array",
        "BigInt64Array",
        "BigUint64Array",
    ];

    private const int DeepestFlat = 100;

    /// <summary>Options of all engines of a map. Thread-safe.</summary>
    public static Options OptionsFor(MapLimitsConfig limits, TimeProvider time)
    {
        var options = new Options
        {
            AgentCanSuspend = false,
            TimeZone = TimeZoneInfo.Utc,
            Culture = CultureInfo.InvariantCulture,
        };
        options.DisableStringCompilation();
        options.LimitRecursion(limits.Depth);
        options.Constraint(() => new ScriptBudget(time, limits));
        options.Interop.Enabled = false;
        options.Constraints.StackOverflowGuard = true;
        options.Constraints.RegexTimeout = limits.Time;
        options.Constraints.PromiseTimeout = limits.Time;
        options.Constraints.MaxArraySize = (uint)(limits.Memory.Bytes / sizeof(long));
        return options;
    }

    /// <summary>Creates an engine.</summary>
    public static Engine Create(Options options, out ScriptBudget budget)
    {
        var engine = new Engine(options);
        budget = engine.Constraints.Find<ScriptBudget>()!;
        foreach (var name in Removed)
            engine.Global.RemoveOwnProperty(name);
        GuardTexts(engine, budget);
        GuardRecursion(engine, budget);
        return engine;
    }

    // These make a text of any length in one call.
    private static void GuardTexts(Engine engine, ScriptBudget budget)
    {
        var prototype = PrototypeOf(engine, "String");
        Replace(
            engine,
            prototype,
            "repeat",
            (original, target, arguments) =>
            {
                CheckLength(budget, target.ToString().Length * TypeConverter.ToNumber(arguments.At(0)));
                return original.Call(target, arguments);
            }
        );
        Replace(engine, prototype, "padStart", Pad);
        Replace(engine, prototype, "padEnd", Pad);

        JsValue Pad(Function original, JsValue target, JsValue[] arguments)
        {
            CheckLength(budget, TypeConverter.ToNumber(arguments.At(0)));
            return original.Call(target, arguments);
        }
    }

    // These descend into nested values without running a statement of the script.
    private static void GuardRecursion(Engine engine, ScriptBudget budget)
    {
        var prototype = PrototypeOf(engine, "Array");
        Replace(
            engine,
            prototype,
            "join",
            (original, target, arguments) =>
            {
                ScriptBudget.CheckStack();
                if (target is ObjectInstance array && arguments.At(0) is JsString separator)
                    CheckLength(budget, TypeConverter.ToNumber(array.Get("length")) * separator.ToString().Length);
                return original.Call(target, arguments);
            }
        );
        Replace(
            engine,
            prototype,
            "toLocaleString",
            (original, target, arguments) =>
            {
                ScriptBudget.CheckStack();
                return original.Call(target, arguments);
            }
        );
        Replace(
            engine,
            prototype,
            "flat",
            (original, target, arguments) =>
                original.Call(
                    target,
                    [
                        arguments.At(0).IsUndefined()
                            ? JsNumber.Create(1)
                            : JsNumber.Create(Math.Min(TypeConverter.ToInteger(arguments[0]), DeepestFlat)),
                    ]
                )
        );
        Replace(
            engine,
            (ObjectInstance)engine.Global.Get("JSON"),
            "stringify",
            (original, target, arguments) =>
                original.Call(target, [arguments.At(0), ScriptReplacer.Guard(engine, arguments.At(1)), arguments.At(2)])
        );
    }

    private static ObjectInstance PrototypeOf(Engine engine, string name) =>
        (ObjectInstance)((ObjectInstance)engine.Global.Get(name)).Get("prototype");

    private static void CheckLength(ScriptBudget budget, double length)
    {
        if (length > budget.LongestText)
            throw new ScriptLimitException($"it makes a text of {length:0} characters");
    }

    private static void Replace(Engine engine, ObjectInstance owner, string name, Func<Function, JsValue, JsValue[], JsValue> function)
    {
        var original = (Function)owner.Get(name);
        var guarded = new ClrFunction(engine, name, (target, arguments) => function(original, target, arguments));
        owner.FastSetProperty(name, new PropertyDescriptor(guarded, writable: true, enumerable: false, configurable: true));
    }
}
