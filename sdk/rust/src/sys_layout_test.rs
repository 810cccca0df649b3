// The layout that clang gives <berth/abi.h>. Written by sdk/abi/update.py: do not
// edit this file.
#![allow(deprecated)]
use super::sys::*;

macro_rules! check {
    ($name:ident, $size:expr, $align:expr, [$($member:ident: $offset:expr,)*]) => {{
        assert_eq!(std::mem::size_of::<$name>(), $size, stringify!($name));
        assert_eq!(std::mem::align_of::<$name>(), $align, stringify!($name));
        let place = $name::ZERO;
        let start = &place as *const $name as usize;
        $(
            let offset = std::ptr::addr_of!(place.$member) as usize - start;
            let name = concat!(stringify!($name), ".", stringify!($member));
            assert_eq!(offset, $offset, "{}", name);
        )*
    }};
}

#[test]
fn structs_have_the_layout_of_c() {
    check!(berth_str, 16, 8, [
        ptr: 0,
        len: 8,
    ]);
    check!(berth_id_pair, 8, 4, [
        key: 0,
        value: 4,
    ]);
    check!(berth_str_pair, 32, 8, [
        key: 0,
        value: 16,
    ]);
    check!(berth_quantity, 16, 8, [
        name: 0,
        reserved: 4,
        value: 8,
    ]);
    check!(berth_array, 16, 8, [
        data: 0,
        count: 8,
        stride: 12,
    ]);
    check!(berth_status, 32, 8, [
        struct_size: 0,
        reserved: 4,
        impl_: 8,
        add_reason: 16,
        add_argument_error: 24,
    ]);
    check!(berth_value, 8, 8, [
        reader: 0,
    ]);
    check!(berth_done, 16, 8, [
        host: 0,
        id: 8,
    ]);
    check!(berth_owner, 48, 8, [
        name: 0,
        uid: 16,
        api_version: 32,
        kind: 36,
        controller: 40,
        reserved: 44,
    ]);
    check!(berth_field, 24, 8, [
        path: 0,
        value: 16,
    ]);
    check!(berth_meta, 144, 8, [
        struct_size: 0,
        ns: 4,
        name: 8,
        uid: 24,
        resource_version: 40,
        generation: 56,
        created_ns: 64,
        deleted_ns: 72,
        labels: 80,
        annotations: 96,
        owners: 112,
        fields: 128,
    ]);
    check!(berth_requirement, 32, 8, [
        key: 0,
        op: 4,
        values: 8,
        number: 24,
    ]);
    check!(berth_selector, 24, 8, [
        struct_size: 0,
        flags: 4,
        requirements: 8,
    ]);
    check!(berth_node_term, 40, 8, [
        flags: 0,
        weight: 4,
        expressions: 8,
        fields: 24,
    ]);
    check!(berth_pod_term, 40, 8, [
        selector: 0,
        namespace_selector: 8,
        namespaces: 16,
        topology_key: 32,
        weight: 36,
    ]);
    check!(berth_toleration, 24, 8, [
        key: 0,
        value: 4,
        op: 8,
        effect: 12,
        seconds: 16,
    ]);
    check!(berth_taint, 16, 4, [
        key: 0,
        value: 4,
        effect: 8,
        reserved: 12,
    ]);
    check!(berth_spread, 32, 8, [
        selector: 0,
        topology_key: 8,
        max_skew: 12,
        min_domains: 16,
        when_unsatisfiable: 20,
        node_affinity_policy: 24,
        node_taints_policy: 28,
    ]);
    check!(berth_resources, 56, 8, [
        struct_size: 0,
        present: 4,
        milli_cpu: 8,
        memory: 16,
        ephemeral_storage: 24,
        pods: 32,
        scalars: 40,
    ]);
    check!(berth_port, 16, 4, [
        protocol: 0,
        container_port: 4,
        host_port: 8,
        host_ip: 12,
    ]);
    check!(berth_container, 64, 8, [
        name: 0,
        image: 16,
        image_normal: 20,
        flags: 24,
        reserved: 28,
        requests: 32,
        limits: 40,
        ports: 48,
    ]);
    check!(berth_volume, 72, 8, [
        name: 0,
        kind: 16,
        flags: 20,
        source: 24,
        pool: 40,
        hosts: 56,
    ]);
    check!(berth_resource_claim, 56, 8, [
        name: 0,
        claim_name: 16,
        template_name: 32,
        flags: 48,
        reserved: 52,
    ]);
    check!(berth_condition, 24, 8, [
        type_: 0,
        reason: 4,
        status: 8,
        reserved: 12,
        transition_ns: 16,
    ]);
    check!(berth_affinity, 104, 8, [
        struct_size: 0,
        has_required_node_terms: 4,
        required_node_terms: 8,
        preferred_node_terms: 24,
        required_pod_terms: 40,
        preferred_pod_terms: 56,
        required_pod_anti_terms: 72,
        preferred_pod_anti_terms: 88,
    ]);
    check!(berth_pod, 328, 8, [
        struct_size: 0,
        flags: 4,
        meta: 8,
        scheduler_name: 16,
        node_name: 20,
        priority: 24,
        preemption_policy: 28,
        priority_class: 32,
        runtime_class: 36,
        os: 40,
        restart_policy: 44,
        node_selector: 48,
        affinity: 64,
        tolerations: 72,
        spreads: 88,
        containers: 104,
        init_containers: 120,
        volumes: 136,
        scheduling_gates: 152,
        resource_claims: 168,
        pod_group: 184,
        request: 200,
        request_of_containers: 208,
        accounted: 216,
        nonzero_milli_cpu: 224,
        nonzero_memory: 232,
        host_ports: 240,
        overhead: 256,
        nominated_node: 264,
        phase: 268,
        started_ns: 272,
        conditions: 280,
        own_part_hashes: 296,
        part_hashes: 312,
    ]);
    check!(berth_image, 24, 8, [
        names: 0,
        size: 16,
    ]);
    check!(berth_node, 104, 8, [
        struct_size: 0,
        unschedulable: 4,
        meta: 8,
        name: 16,
        reserved: 20,
        taints: 24,
        allocatable: 40,
        capacity: 48,
        conditions: 56,
        images: 72,
        declared_features: 88,
    ]);
    check!(berth_object, 24, 8, [
        struct_size: 0,
        kind: 4,
        meta: 8,
        value: 16,
    ]);
    check!(berth_tagged, 16, 8, [
        kind: 0,
        reserved: 4,
        object: 8,
    ]);
    check!(berth_queued, 56, 8, [
        struct_size: 0,
        kind: 4,
        pod: 8,
        group: 16,
        priority: 32,
        attempts: 36,
        queued_ns: 40,
        first_attempt_ns: 48,
    ]);
    check!(berth_column, 16, 8, [
        data: 0,
        type_: 8,
        stride: 12,
    ]);
    check!(berth_column_request, 24, 8, [
        struct_size: 0,
        flags: 4,
        name: 8,
        type_: 16,
        reserved: 20,
    ]);
    check!(berth_pod_list, 16, 8, [
        data: 0,
        count: 8,
    ]);
    check!(berth_block, 64, 8, [
        struct_size: 0,
        count: 4,
        n_selected: 8,
        n_columns: 12,
        selected: 16,
        rows: 24,
        columns: 32,
        nodes: 40,
        pods: 48,
        versions: 56,
    ]);
    check!(berth_nodes, 32, 8, [
        struct_size: 0,
        n_blocks: 4,
        n_nodes: 8,
        impl_: 16,
        block: 24,
    ]);
    check!(berth_cycle, 56, 8, [
        struct_size: 0,
        flags: 4,
        id: 8,
        pod: 16,
        slots: 24,
        cancel: 32,
        deadline_ns: 40,
        host: 48,
    ]);
    check!(berth_slot, 48, 8, [
        struct_size: 0,
        size: 4,
        align: 8,
        reserved: 12,
        type_id: 16,
        construct: 24,
        clone: 32,
        destroy: 40,
    ]);
    check!(berth_signature, 16, 8, [
        low: 0,
        high: 8,
    ]);
    check!(berth_dependence, 32, 8, [
        struct_size: 0,
        cluster: 4,
        pod_parts: 8,
        sign: 16,
        changed: 24,
    ]);
    check!(berth_pre_enqueue, 16, 8, [
        struct_size: 0,
        flags: 4,
        pre_enqueue: 8,
    ]);
    check!(berth_event_interest, 32, 8, [
        resource: 0,
        actions: 4,
        kind: 8,
        has_hint: 16,
        reserved: 20,
        pod_parts: 24,
    ]);
    check!(berth_event, 48, 8, [
        struct_size: 0,
        resource: 4,
        actions: 8,
        interest: 12,
        before: 16,
        after: 32,
    ]);
    check!(berth_enqueue_extensions, 32, 8, [
        struct_size: 0,
        flags: 4,
        interests: 8,
        hint: 24,
    ]);
    check!(berth_queue_sort, 24, 8, [
        struct_size: 0,
        flags: 4,
        key: 8,
        less: 16,
    ]);
    check!(berth_lane, 24, 8, [
        lane: 0,
        count: 8,
        first: 16,
    ]);
    check!(berth_queue_sort_2, 40, 8, [
        struct_size: 0,
        flags: 4,
        key: 8,
        less: 16,
        lane: 24,
        next: 32,
    ]);
    check!(berth_entity, 16, 8, [
        struct_size: 0,
        flags: 4,
        entity: 8,
    ]);
    check!(berth_pre_filter_out, 32, 8, [
        struct_size: 0,
        reserved: 4,
        impl_: 8,
        only_nodes: 16,
        add_reason: 24,
    ]);
    check!(berth_pre_filter, 32, 8, [
        struct_size: 0,
        flags: 4,
        pre_filter: 8,
        add_pod: 16,
        remove_pod: 24,
    ]);
    check!(berth_filter_out, 24, 8, [
        struct_size: 0,
        reserved: 4,
        codes: 8,
        reasons: 16,
    ]);
    check!(berth_filter_whole_out, 40, 8, [
        struct_size: 0,
        row_count: 4,
        codes: 8,
        reasons: 16,
        impl_: 24,
        add_reason: 32,
    ]);
    check!(berth_filter, 32, 8, [
        struct_size: 0,
        flags: 4,
        dependence: 8,
        filter: 16,
        filter_whole: 24,
    ]);
    check!(berth_verdicts, 24, 8, [
        struct_size: 0,
        count: 4,
        codes: 8,
        absent: 16,
    ]);
    check!(berth_post_filter_out, 24, 8, [
        struct_size: 0,
        mode: 4,
        impl_: 8,
        nominate: 16,
    ]);
    check!(berth_post_filter, 16, 8, [
        struct_size: 0,
        flags: 4,
        post_filter: 8,
    ]);
    check!(berth_pre_score_out, 16, 8, [
        struct_size: 0,
        reserved: 4,
        impl_: 8,
    ]);
    check!(berth_pre_score, 16, 8, [
        struct_size: 0,
        flags: 4,
        pre_score: 8,
    ]);
    check!(berth_scores, 24, 8, [
        struct_size: 0,
        count: 4,
        rows: 8,
        scores: 16,
    ]);
    check!(berth_score_out, 16, 8, [
        struct_size: 0,
        reserved: 4,
        scores: 8,
    ]);
    check!(berth_score, 40, 8, [
        struct_size: 0,
        flags: 4,
        normalize_mode: 8,
        reserved: 12,
        dependence: 16,
        score: 24,
        normalize: 32,
    ]);
    check!(berth_target, 32, 8, [
        struct_size: 0,
        row: 4,
        node: 8,
        block: 16,
        index: 24,
        reserved: 28,
    ]);
    check!(berth_reserve, 24, 8, [
        struct_size: 0,
        flags: 4,
        reserve: 8,
        unreserve: 16,
    ]);
    check!(berth_permit_out, 16, 8, [
        struct_size: 0,
        reserved: 4,
        timeout_ns: 8,
    ]);
    check!(berth_permit, 16, 8, [
        struct_size: 0,
        flags: 4,
        permit: 8,
    ]);
    check!(berth_binding, 80, 8, [
        struct_size: 0,
        flags: 4,
        pod: 8,
        node_name: 16,
        node_uid: 32,
        slots: 48,
        cancel: 56,
        call_deadline_ns: 64,
        completion_deadline_ns: 72,
    ]);
    check!(berth_pre_bind, 24, 8, [
        struct_size: 0,
        flags: 4,
        pre_flight: 8,
        pre_bind: 16,
    ]);
    check!(berth_bind, 16, 8, [
        struct_size: 0,
        flags: 4,
        bind: 8,
    ]);
    check!(berth_post_bind, 16, 8, [
        struct_size: 0,
        flags: 4,
        post_bind: 8,
    ]);
    check!(berth_failed_attempt, 72, 8, [
        struct_size: 0,
        flags: 4,
        pod: 8,
        code: 16,
        reserved: 20,
        node: 24,
        message: 40,
        plugins: 56,
    ]);
    check!(berth_attempt_failed, 16, 8, [
        struct_size: 0,
        flags: 4,
        attempt_failed: 8,
    ]);
    check!(berth_change, 56, 8, [
        struct_size: 0,
        kind: 4,
        flags: 8,
        row: 12,
        sequence: 16,
        pod: 24,
        old_pod: 32,
        node: 40,
        old_node: 48,
    ]);
    check!(berth_changes, 16, 8, [
        struct_size: 0,
        flags: 4,
        change: 8,
    ]);
    check!(berth_hand_over_out, 24, 8, [
        struct_size: 0,
        version: 4,
        impl_: 8,
        write: 16,
    ]);
    check!(berth_hand_over, 24, 8, [
        struct_size: 0,
        flags: 4,
        save: 8,
        restore: 16,
    ]);
    check!(berth_host, 80, 8, [
        struct_size: 0,
        abi_major: 4,
        abi_minor: 6,
        impl_: 8,
        name: 16,
        version: 32,
        get_service: 48,
        fault: 56,
        hash_key: 64,
    ]);
    check!(berth_log, 24, 8, [
        struct_size: 0,
        reserved: 4,
        level: 8,
        log: 16,
    ]);
    check!(berth_strings, 40, 8, [
        struct_size: 0,
        reserved: 4,
        intern: 8,
        find: 16,
        text: 24,
        release: 32,
    ]);
    check!(berth_refs, 24, 8, [
        struct_size: 0,
        reserved: 4,
        retain: 8,
        release: 16,
    ]);
    check!(berth_columns, 16, 8, [
        struct_size: 0,
        reserved: 4,
        bind: 8,
    ]);
    check!(berth_values, 112, 8, [
        struct_size: 0,
        reserved: 4,
        kind: 8,
        size: 16,
        get: 24,
        at: 32,
        as_int: 40,
        as_float: 48,
        as_string: 56,
        where_: 64,
        as_quantity: 72,
        as_time: 80,
        write_json: 88,
        parse: 96,
        release: 104,
    ]);
    check!(berth_node_selector, 24, 8, [
        struct_size: 0,
        flags: 4,
        terms: 8,
    ]);
    check!(berth_selectors, 72, 8, [
        struct_size: 0,
        reserved: 4,
        from_value: 8,
        from_map: 16,
        from_text: 24,
        node_selector: 32,
        matches: 40,
        matches_node: 48,
        release: 56,
        release_node: 64,
    ]);
    check!(berth_metric, 72, 8, [
        struct_size: 0,
        kind: 4,
        name: 8,
        help: 24,
        label_names: 40,
        n_labels: 48,
        buckets: 56,
        n_buckets: 64,
    ]);
    check!(berth_metrics, 32, 8, [
        struct_size: 0,
        reserved: 4,
        define: 8,
        series: 16,
        observe: 24,
    ]);
    check!(berth_object_change, 32, 8, [
        struct_size: 0,
        flags: 4,
        kind: 8,
        reserved: 12,
        old: 16,
        now: 24,
    ]);
    check!(berth_objects, 40, 8, [
        struct_size: 0,
        reserved: 4,
        get: 8,
        list: 16,
        served: 24,
        watch: 32,
    ]);
    check!(berth_node_lookup, 24, 8, [
        struct_size: 0,
        reserved: 4,
        find: 8,
        place: 16,
    ]);
    check!(berth_whatif_run, 32, 8, [
        struct_size: 0,
        flags: 4,
        selected: 8,
        n_selected: 16,
        codes: 24,
    ]);
    check!(berth_whatif, 64, 8, [
        struct_size: 0,
        reserved: 4,
        begin: 8,
        remove_pod: 16,
        add_pod: 24,
        run_filters: 32,
        end: 40,
        reasons: 48,
        pod_filters: 56,
    ]);
    check!(berth_nominator, 32, 8, [
        struct_size: 0,
        reserved: 4,
        list: 8,
        clear: 16,
        each: 24,
    ]);
    check!(berth_activate, 16, 8, [
        struct_size: 0,
        reserved: 4,
        activate: 8,
    ]);
    check!(berth_rejection, 40, 8, [
        struct_size: 0,
        flags: 4,
        pod_uid: 8,
        reason: 24,
    ]);
    check!(berth_waiting, 32, 8, [
        struct_size: 0,
        reserved: 4,
        each: 8,
        allow: 16,
        reject: 24,
    ]);
    check!(berth_timer, 64, 8, [
        struct_size: 0,
        reserved: 4,
        now_ns: 8,
        wall_ns: 16,
        start: 24,
        cancel: 32,
        post: 40,
        hold: 48,
        release: 56,
    ]);
    check!(berth_random, 16, 8, [
        struct_size: 0,
        reserved: 4,
        next: 8,
    ]);
    check!(berth_shared, 24, 8, [
        struct_size: 0,
        reserved: 4,
        find: 8,
        add: 16,
    ]);
    check!(berth_api_request, 80, 8, [
        struct_size: 0,
        flags: 4,
        verb: 8,
        path: 24,
        content_type: 40,
        body: 56,
        timeout_ns: 72,
    ]);
    check!(berth_api_result, 64, 8, [
        struct_size: 0,
        code: 4,
        http_status: 8,
        flags: 12,
        retry_after_ns: 16,
        body: 24,
        error: 40,
        value: 56,
    ]);
    check!(berth_status_patch, 32, 8, [
        struct_size: 0,
        flags: 4,
        pod: 8,
        patch: 16,
    ]);
    check!(berth_eviction, 32, 8, [
        struct_size: 0,
        flags: 4,
        pod: 8,
        message: 16,
    ]);
    check!(berth_api_event, 88, 8, [
        struct_size: 0,
        flags: 4,
        regarding: 8,
        related: 16,
        type_: 24,
        reason: 40,
        action: 56,
        note: 72,
    ]);
    check!(berth_api, 48, 8, [
        struct_size: 0,
        reserved: 4,
        bind: 8,
        patch_status: 16,
        evict: 24,
        event: 32,
        request: 40,
    ]);
    check!(berth_outcome, 24, 8, [
        struct_size: 0,
        code: 4,
        reasons: 8,
    ]);
    check!(berth_completion, 16, 8, [
        struct_size: 0,
        reserved: 4,
        complete: 8,
    ]);
    check!(berth_http_header, 32, 8, [
        name: 0,
        value: 16,
    ]);
    check!(berth_http_request, 152, 8, [
        struct_size: 0,
        flags: 4,
        method: 8,
        url: 24,
        headers: 40,
        body: 56,
        ca_file: 72,
        cert_file: 88,
        key_file: 104,
        server_name: 120,
        timeout_ns: 136,
        max_body_bytes: 144,
    ]);
    check!(berth_http_result, 64, 8, [
        struct_size: 0,
        end: 4,
        http_status: 8,
        reserved: 12,
        headers: 16,
        body: 32,
        error: 48,
    ]);
    check!(berth_http, 16, 8, [
        struct_size: 0,
        reserved: 4,
        request: 8,
    ]);
    check!(berth_plugin_info, 80, 8, [
        struct_size: 0,
        flags: 4,
        name: 8,
        version: 16,
        about: 24,
        points: 32,
        services: 40,
        kinds: 48,
        fields: 56,
        pod_fields: 64,
        args_schema: 72,
    ]);
    check!(berth_plugin, 88, 8, [
        struct_size: 0,
        flags: 4,
        self_: 8,
        columns: 16,
        slots: 32,
        reasons: 48,
        get_point: 64,
        quiesce: 72,
        destroy: 80,
    ]);
    check!(berth_instance_request, 80, 8, [
        struct_size: 0,
        flags: 4,
        name: 8,
        profile: 24,
        args: 40,
        points: 48,
        deadline_ns: 64,
        emulated_version: 72,
        reserved: 76,
    ]);
    check!(berth_entry, 72, 8, [
        magic: 0,
        struct_size: 4,
        abi_major: 8,
        abi_minor: 10,
        min_host_minor: 12,
        pointer_bits: 14,
        build_flags: 16,
        n_plugins: 24,
        plugins: 32,
        init: 40,
        deinit: 48,
        create: 56,
        abi_draft: 64,
    ]);
}
